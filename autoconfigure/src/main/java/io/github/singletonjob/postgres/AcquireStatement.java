package io.github.singletonjob.postgres;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.LeaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * The parameters and the answer of {@link LeaseSql#ACQUIRE}.
 */
final class AcquireStatement {

	private AcquireStatement() {
	}

	static void bind(PreparedStatement statement, LeaseRequest request) throws SQLException {
		Firing firing = request.firing();
		statement.setLong(1, LockKey.of(request.job()));
		statement.setString(2, request.job().namespace());
		statement.setString(3, request.job().name());
		statement.setString(4, request.owner());
		statement.setString(5, request.holder());
		statement.setLong(6, request.floor());
		statement.setString(7, (firing != null) ? firing.schedule() : null);
		Instants.set(statement, 8, (firing != null) ? firing.fireTime() : null);
		statement.setBoolean(9, firing != null && firing.finishesOpen());
	}

	static AcquireAnswer read(ResultSet row, @Nullable Firing firing) throws SQLException {
		if (!row.getBoolean("ok")) {
			return new AcquireAnswer.NotTaken(notTaken(row));
		}
		Long token = row.getObject("token", Long.class);
		if (token == null) {
			return new AcquireAnswer.Overtaken();
		}
		return new AcquireAnswer.Minted(token, fireTime(row, firing), row.getBoolean("follows_unreleased"));
	}

	private static Acquisition notTaken(ResultSet row) throws SQLException {
		if (row.getBoolean("early")) {
			return new Acquisition.Early(Instants.require(row, "server_time"));
		}
		if (!row.getBoolean("needed")) {
			return new Acquisition.AlreadyRan(Instants.get(row, "known_completed"));
		}
		return new Acquisition.Held(row.getString("holder"));
	}

	private static @Nullable GrantedFireTime fireTime(ResultSet row, @Nullable Firing firing) throws SQLException {
		if (firing == null) {
			return null;
		}
		boolean takeover = row.getInt("runs") > 1;
		// The database keeps microseconds
		Instant own = takeover ? null : firing.fireTime();
		return new GrantedFireTime(firing, (own != null) ? own : Instants.require(row, "started"), takeover,
				Instants.get(row, "completed"));
	}

}
