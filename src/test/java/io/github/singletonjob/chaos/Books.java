package io.github.singletonjob.chaos;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.github.singletonjob.servers.PostgresServer;

/**
 * The database of a billing company, the card network beside it, and how to read them.
 */
final class Books {

	static final int CUSTOMERS = 30;

	private static final String[] TABLES = { "create table customer (id int primary key)",
			"insert into customer select generate_series(1, " + CUSTOMERS + ")",
			"create table period (id int primary key)", "insert into period values (1)", "create sequence run_number",
			"create table history (id bigserial primary key, at bigint not null default extract(epoch from"
					+ " clock_timestamp()) * 1000, job text not null, kind text not null, token bigint not null,"
					+ " period int not null default 0, customer int not null default 0, fire_time text,"
					+ " server text not null)",
			"create index on history (period, customer)",
			"create table diary (id bigserial primary key, at bigint not null, server text not null,"
					+ " job text not null, kind text not null, token bigint not null, detail text not null)",
			"create table card (key text primary key, period int not null, customer int not null,"
					+ " requests int not null default 1)",
			"create table shedlock (name varchar(64) primary key, lock_until timestamp not null,"
					+ " locked_at timestamp not null, locked_by varchar(255) not null)" };

	private final String url;

	Books(String url) {
		this.url = url;
		for (String statement : TABLES) {
			execute(statement);
		}
	}

	String url() {
		return this.url;
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

	long number(String sql) {
		return rows(sql, (row) -> row.getLong(1)).get(0);
	}

	List<String> texts(String sql) {
		return rows(sql, (row) -> row.getString(1));
	}

	Mark mark() {
		return new Mark(number("select coalesce(max(id), 0) + 1 from history"),
				number("select coalesce(max(id), 0) + 1 from diary"), number("select max(id) from period"));
	}

	History since(Mark mark, long settled) {
		List<History.Entry> entries = rows(
				"select id, at, job, kind, token, period, customer, fire_time, server from history where id >= "
						+ (mark.history() - 200) + " or period >= " + (mark.period() - 1) + " order by id",
				(row) -> new History.Entry(row.getLong(1), row.getLong(2), row.getString(3), row.getString(4),
						row.getLong(5), row.getInt(6), row.getInt(7), row.getString(8), row.getString(9)));
		List<History.Note> notes = rows(
				"select at, server, job, kind, token, detail from diary where id >= " + mark.diary() + " order by at",
				(row) -> new History.Note(row.getLong(1), row.getString(2), row.getString(3), row.getString(4),
						row.getLong(5), row.getString(6)));
		long doubleKeys = number("select count(*) from (select period, customer from card where period >= "
				+ mark.period() + " group by period, customer having count(*) > 1) d");
		return new History(entries, notes, mark.history(), settled, doubleKeys);
	}

	private void execute(String sql) {
		try (Connection connection = PostgresServer.connect(this.url);
				Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(sql, ex);
		}
	}

	private <T> List<T> rows(String sql, Reader<T> reader) {
		try (Connection connection = PostgresServer.connect(this.url + "?connectTimeout=2&socketTimeout=3");
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
	 * @param history the first entry that belongs to it
	 * @param diary the first note that does
	 * @param period the period that was open
	 */
	record Mark(long history, long diary, long period) {
	}

}
