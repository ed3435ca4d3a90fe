package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The databases that can hold a fence. Postgres checks and commits in one round trip and
 * aborts by itself. The others have the portable form: the client reads the fence row
 * with a lock as the last act of the transaction, and decides.
 */
enum FenceDialect {

	/** PostgreSQL 14 or newer. */
	POSTGRESQL("PostgreSQL", 14, 0, ""),

	/** H2 2 or newer. It knows no share lock. */
	H2("H2", 2, 0, "for update"),

	/** MariaDB 10.6 or newer, tables of InnoDB, one node that writes. */
	MARIADB("MariaDB", 10, 6, "lock in share mode");

	// Lock time-out, serialization failure, deadlock, statement time-out or cancellation
	private static final Set<String> WORTH_ANOTHER_TRY = Set.of("55P03", "40001", "40P01", "57014");

	// In addition: a row that another instance has just inserted, H2's lock time-out and
	// concurrent update, MariaDB's statement time-out
	private static final Set<String> PORTABLE_WORTH_ANOTHER_TRY = Set.of("23505", "23000", "HYT00", "90131", "70100");

	// MariaDB's lock time-out, and a row that has changed since the snapshot
	private static final Set<Integer> PORTABLE_CODES = Set.of(1205, 1020);

	private final String product;

	private final int major;

	private final int minor;

	private final String lock;

	FenceDialect(String product, int major, int minor, String lock) {
		this.product = product;
		this.major = major;
		this.minor = minor;
		this.lock = lock;
	}

	/**
	 * The dialect of a database. One that is not among the three is refused when the
	 * fence is probed, so what is answered for it does not matter.
	 * @param connection asked for the product's name, which drivers know without a round
	 * trip
	 * @return the dialect
	 * @throws SQLException if the connection is closed
	 */
	static FenceDialect of(Connection connection) throws SQLException {
		String product = connection.getMetaData().getDatabaseProductName();
		return Stream.of(values()).filter((dialect) -> dialect.product.equals(product)).findFirst().orElse(POSTGRESQL);
	}

	boolean isPortable() {
		return this != POSTGRESQL;
	}

	String product() {
		return this.product;
	}

	String oldestVersion() {
		return (this.minor == 0) ? Integer.toString(this.major) : this.major + "." + this.minor;
	}

	boolean isNewEnough(int major, int minor) {
		return major > this.major || (major == this.major && minor >= this.minor);
	}

	/**
	 * The lock on the fence row that a raise has to wait for; empty for Postgres, where
	 * it is an advisory lock.
	 */
	String lock() {
		return this.lock;
	}

	/**
	 * A time-out for a statement that waits for the row.
	 * @param millis how long it may wait
	 * @return seconds; 0 for Postgres, where the transaction has time-outs, and for H2,
	 * where it would stay with the session, which has a lock time-out of its own
	 */
	int statementSeconds(long millis) {
		return (this == MARIADB) ? (int) Math.max(1, (millis + 999) / 1000) : 0;
	}

	/** A query for the database's clock, in seconds since 1970 whatever the time zone. */
	String clock() {
		return (this == MARIADB) ? "select unix_timestamp()"
				: "select cast(floor(extract(epoch from current_timestamp)) as bigint)";
	}

	/** The script that creates the table, on the class path. */
	String script() {
		return "io/github/singletonjob/fencing/schema-" + this.product.toLowerCase(Locale.ROOT) + ".sql";
	}

	boolean isWorthAnotherTry(SQLException failure) {
		String state = String.valueOf(failure.getSQLState());
		return WORTH_ANOTHER_TRY.contains(state) || (isPortable()
				&& (PORTABLE_WORTH_ANOTHER_TRY.contains(state) || PORTABLE_CODES.contains(failure.getErrorCode())));
	}

}
