package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.servers.PostgresServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A token that is minted by another session than the one that has the lock may come late.
 */
class LateMintTests {

	private static final LeaseSession.Times TIMES = new LeaseSession.Times(Duration.ofSeconds(30),
			Duration.ofSeconds(5));

	private final String url = Databases.create();

	private LeaseStatements open() throws SQLException {
		return LeaseStatements.open(PostgresServer.connect(this.url), "singleton-job test", TIMES);
	}

	private static Claim claim(String owner) {
		return new Claim(
				new LeaseRequest(new JobId("shop", "billing"), owner, owner, TIMES.ttl(), TIMES.callTimeout(), 0));
	}

	private static Taking take(LeaseStatements session, Claim claim, @Nullable Long seen, Taking.Step step)
			throws SQLException {
		return session.take(List.of(new Taking.Asked(claim, seen)), step).get(0);
	}

	@Test
	void writesNothingIfAnotherHasHadTheLockSince() throws SQLException {
		Claim late = claim("late");
		Claim next = claim("next");
		LeaseStatements first = open();
		LeaseStatements holder = open();
		LeaseStatements writer = open();
		try {
			take(first, claim("before"), null, Taking.Step.LOCK_AND_MINT);
			first.free(late.lockKey());
			Taking locked = take(first, late, null, Taking.Step.LOCK);
			assertThat(locked).isInstanceOf(Taking.Locked.class);
			Long seen = ((Taking.Locked) locked).seen();
			first.free(late.lockKey());
			Taking minted = take(holder, next, null, Taking.Step.LOCK_AND_MINT);
			assertThat(minted).isInstanceOf(Taking.Minted.class);
			assertThat(take(writer, late, seen, Taking.Step.MINT)).isEqualTo(Taking.NOTHING);
			assertThat(Databases.ask(this.url, "select count(*) from singleton_job_lease where owner = 'next'"))
				.isEqualTo(1);
			assertThat(take(writer, late, null, Taking.Step.MINT)).isEqualTo(Taking.NOTHING);
		}
		finally {
			first.end();
			holder.end();
			writer.end();
		}
	}

}
