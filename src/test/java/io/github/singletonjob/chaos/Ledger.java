package io.github.singletonjob.chaos;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.github.singletonjob.servers.PostgresServer;
import org.jspecify.annotations.Nullable;

/**
 * What a billing company writes into its guarded database, and what is known besides: the
 * card network and the events that servers note. Those are in another database, which no
 * fault hits.
 */
final class Ledger {

	static final int CUSTOMERS = 30;

	private static final String[] TABLES = { "create table customer (id int primary key)",
			"insert into customer select generate_series(1, " + CUSTOMERS + ")",
			"create table period (id int primary key)", "insert into period values (1)",
			"create table run_number (number bigint not null)", "insert into run_number values (0)",
			"create table history (id bigserial primary key, at bigint not null default extract(epoch from"
					+ " clock_timestamp()) * 1000, job text not null, kind text not null, token bigint not null,"
					+ " period int not null default 0, customer int not null default 0, fire_time text,"
					+ " server text not null)",
			"create index on history (period, customer)",
			"create table shedlock (name varchar(64) primary key, lock_until timestamp not null,"
					+ " locked_at timestamp not null, locked_by varchar(255) not null)" };

	private static final String BOUNDS = "?connectTimeout=2&socketTimeout=3";

	private final Database database;

	private final boolean recordsFireTimes;

	private final String eventsUrl = PostgresServer.shared().newDatabase();

	/**
	 * Creates the tables.
	 * @param database the guarded database
	 * @param recordsFireTimes whether the library keeps its record of fire times there
	 */
	Ledger(Database database, boolean recordsFireTimes) {
		this.database = database;
		this.recordsFireTimes = recordsFireTimes;
		database.execute(TABLES);
		EventLog.createTables(this.eventsUrl);
	}

	String eventsUrl() {
		return this.eventsUrl;
	}

	/**
	 * The server that has begun the billing job last, if the database says so in time.
	 */
	Optional<String> holder() {
		try {
			return rows("select server from history where job = 'billing' and kind = 'BEGIN' order by id desc limit 1",
					(row) -> row.getString(1))
				.stream()
				.findFirst();
		}
		catch (IllegalStateException ex) {
			return Optional.empty();
		}
	}

	/** Whether billing has begun since then, in milliseconds since the epoch. */
	boolean hasBilledSince(long time) {
		return number(this.database.url(),
				"select count(*) from history where job = 'billing' and kind = 'BEGIN' and at > " + time) > 0;
	}

	/** How many bodies on these servers still work though a newer one has begun. */
	long olderBodies(Mark mark, List<String> servers) {
		return number(this.eventsUrl, "select count(*) from event b where b.id >= " + mark.event()
				+ " and b.kind = 'BODY' and b.server in ('" + String.join("','", servers) + "')"
				+ " and not exists (select 1 from event e where e.kind = 'ENDED'"
				+ " and e.id >= b.id and e.job = b.job and e.token = b.token) and exists (select 1 from event n"
				+ " where n.kind = 'BODY' and n.job = b.job and n.token > b.token and n.id >= " + mark.event() + ")");
	}

	Mark mark() {
		return new Mark(number(this.database.url(), "select coalesce(max(id), 0) + 1 from history"),
				number(this.eventsUrl, "select coalesce(max(id), 0) + 1 from event"),
				number(this.database.url(), "select max(id) from period"));
	}

	History since(Mark mark, List<History.Fault> faults, long settled) {
		List<History.Event> events = rows(this.eventsUrl,
				"select at, server, job, kind, token, detail from event where id >= " + mark.event() + " order by at",
				(row) -> new History.Event(row.getLong(1), row.getString(2), row.getString(3), row.getString(4),
						row.getLong(5), row.getString(6)));
		List<History.Entry> entries = rows(
				"select id, at, job, kind, token, period, customer, fire_time, server from history where id >= "
						+ (mark.entry() - 200) + " or period >= " + (mark.period() - 1) + " order by id",
				(row) -> new History.Entry(row.getLong(1), row.getLong(2), row.getString(3), row.getString(4),
						row.getLong(5), row.getInt(6), row.getInt(7), row.getString(8), row.getString(9)));
		long doubleKeys = number(this.eventsUrl, "select count(*) from (select period, customer from card"
				+ " where period >= " + mark.period() + " group by period, customer having count(*) > 1) d");
		return new History(entries, events, faults, mark.entry(), settled, doubleKeys, reported());
	}

	private @Nullable String reported() {
		return this.recordsFireTimes
				? rows("select to_char(max(completed) at time zone 'UTC',"
						+ " 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') from singleton_job_fire_time where name = '"
						+ ReportJob.JOB + "'", (row) -> Optional.ofNullable(row.getString(1)))
					.get(0)
					.orElse(null)
				: null;
	}

	private static long number(String url, String sql) {
		return rows(url, sql, (row) -> row.getLong(1)).get(0);
	}

	private <T> List<T> rows(String sql, Reader<T> reader) {
		return rows(this.database.url(), sql, reader);
	}

	private static <T> List<T> rows(String url, String sql, Reader<T> reader) {
		try (Connection connection = PostgresServer.connect(url + BOUNDS);
				Statement statement = connection.createStatement();
				ResultSet result = statement.executeQuery(sql)) {
			List<T> rows = new ArrayList<>();
			while (result.next()) {
				rows.add(reader.read(result));
			}
			return rows;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(sql, ex);
		}
	}

	private interface Reader<T> {

		T read(ResultSet row) throws SQLException;

	}

	/**
	 * Where a run begins.
	 *
	 * @param entry the number of the first entry that belongs to it
	 * @param event that of the first event
	 * @param period the period that was open
	 */
	record Mark(long entry, long event, long period) {
	}

}
