package io.github.singletonjob.sample.company.statements;

import java.util.List;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.fencing.RowFence;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.namedparam.SqlParameterSource;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The company's statements, in plain JDBC: reads by {@link JdbcClient}, writes in
 * batches.
 */
@Service
class StatementBook {

	private final JdbcClient jdbc;

	private final NamedParameterJdbcTemplate batches;

	private final JobRun run;

	StatementBook(JdbcClient jdbc, NamedParameterJdbcTemplate batches, JobRun run) {
		this.jdbc = jdbc;
		this.batches = batches;
		this.run = run;
	}

	/**
	 * Statements that are still to be written, of closed periods only.
	 * @param limit how many at most
	 * @return the oldest ones
	 */
	List<Statement> missing(int limit) {
		return this.jdbc.sql("""
				select c.id as customer_id, c.email, i.period, i.amount_cents as total_cents
				from invoice i
				join billing_period p on p.number = i.period and p.closed_at is not null
				join customer c on c.id = i.customer_id
				where not exists (select 1 from statement s where s.customer_id = i.customer_id and s.period = i.period)
				order by i.period, c.id
				limit :limit
				""").param("limit", limit).query(Statement.class).list();
	}

	/**
	 * Statements that were written and not mailed.
	 * @param limit how many at most
	 * @return the oldest ones
	 */
	List<Statement> unmailed(int limit) {
		return this.jdbc.sql("""
				select c.id as customer_id, c.email, s.period, s.total_cents
				from statement s
				join customer c on c.id = s.customer_id
				where s.mailed_at is null
				order by s.period, c.id
				limit :limit
				""").param("limit", limit).query(Statement.class).list();
	}

	/**
	 * Writes statements.
	 * @param statements the statements
	 */
	@Transactional
	void write(List<Statement> statements) {
		this.batches.batchUpdate("""
				insert into statement (customer_id, period, total_cents, token)
				values (:customerId, :period, :totalCents, :token)
				""", parameters(statements));
	}

	/**
	 * Marks statements as mailed. The transaction as a whole is fenced already; the
	 * condition on the token shows how single rows are guarded, as it is needed where the
	 * fence does not reach, such as in another database.
	 * @param statements the statements
	 */
	@Transactional
	void markMailed(List<Statement> statements) {
		int[] updated = this.batches.batchUpdate("""
				update statement set mailed_at = now(), token = :token
				where customer_id = :customerId and period = :period and token <= :token
				""", parameters(statements));
		RowFence.requireAllUpdated(updated);
	}

	private SqlParameterSource[] parameters(List<Statement> statements) {
		long token = this.run.token();
		return statements.stream()
			.map((statement) -> new MapSqlParameterSource().addValue("customerId", statement.customerId())
				.addValue("period", statement.period())
				.addValue("totalCents", statement.totalCents())
				.addValue("token", token))
			.toArray(SqlParameterSource[]::new);
	}

}
