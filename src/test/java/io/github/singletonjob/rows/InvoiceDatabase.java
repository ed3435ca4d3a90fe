package io.github.singletonjob.rows;

import io.github.singletonjob.servers.PostgresServer;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A database with invoices, seen from outside of the application.
 */
final class InvoiceDatabase {

	static final String TABLE = """
			create table invoice (id bigint primary key, status text not null default 'OPEN',
			version bigint not null default 0, fence bigint not null default 0)""";

	private final String url = PostgresServer.shared().newDatabase();

	private final JdbcClient outside = JdbcClient
		.create(new DriverManagerDataSource(this.url, PostgresServer.USERNAME, ""));

	InvoiceDatabase() {
		this.outside.sql(TABLE).update();
	}

	String url() {
		return this.url;
	}

	/** Two open invoices that no run has written. */
	void reset() {
		this.outside.sql("truncate invoice").update();
		this.outside.sql("insert into invoice (id) values (1), (2)").update();
	}

	/** What a newer run has done, on another machine. */
	void write(long token) {
		this.outside.sql("update invoice set status = 'NEW', version = version + 1, fence = ?").param(token).update();
	}

	String status(long id) {
		return this.outside.sql("select status from invoice where id = ?")
			.param(id)
			.query(String.class)
			.optional()
			.orElse("GONE");
	}

	long fence(long id) {
		return number("select fence from invoice where id = " + id);
	}

	long number(String sql) {
		return this.outside.sql(sql).query(Long.class).single();
	}

	void execute(String sql) {
		this.outside.sql(sql).update();
	}

}
