package io.github.singletonjob.postgres;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

import org.jspecify.annotations.Nullable;

/**
 * Instants as the database keeps them, to the microsecond.
 */
final class Instants {

	private Instants() {
	}

	static void set(PreparedStatement statement, int index, @Nullable Instant instant) throws SQLException {
		statement.setObject(index,
				(instant != null) ? instant.truncatedTo(ChronoUnit.MICROS).atOffset(ZoneOffset.UTC) : null,
				Types.TIMESTAMP_WITH_TIMEZONE);
	}

	static @Nullable Instant get(ResultSet row, String column) throws SQLException {
		@Nullable OffsetDateTime value = row.getObject(column, OffsetDateTime.class);
		return (value != null) ? value.toInstant() : null;
	}

	static Instant require(ResultSet row, String column) throws SQLException {
		Instant instant = get(row, column);
		if (instant == null) {
			throw new SQLException("The column " + column + " of the store's answer is empty");
		}
		return instant;
	}

}
