package io.github.singletonjob.sample.company.statements;

import java.util.List;

import io.github.singletonjob.fencing.RowFence;
import io.github.singletonjob.fencing.TokenParameterSource;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The company's statements, in plain JDBC: reads by {@link JdbcClient}, writes in batches
 * whose rows carry the token of the run.
 */
@Service
class StatementBook {

	private final JdbcClient jdbc;

	private final NamedParameterJdbcTemplate batches;

	StatementBook(JdbcClient jdbc, NamedParameterJdbcTemplate batches) {
		this.jdbc = jdbc;
		this.batches = batches;
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
	 * Writes statements. Not a plain insert: a row that is there already is compared like
	 * any other, so that a late holder overwrites nothing of its successor.
	 * @param statements the statements
	 */
	@Transactional
	void write(List<Statement> statements) {
		update("""
				insert into statement as s (customer_id, period, total_cents, token)
				values (:customerId, :period, :totalCents, :token)
				on conflict (period, customer_id)
				do update set total_cents = excluded.total_cents, token = excluded.token
				where s.token <= excluded.token
				""", statements);
	}

	/**
	 * Marks statements as mailed.
	 * @param statements the statements
	 */
	@Transactional
	void markMailed(List<Statement> statements) {
		update("""
				update statement set mailed_at = now(), token = :token
				where customer_id = :customerId and period = :period and token <= :token
				""", statements);
	}

	// Each row is compared with the token, and one refusal rolls the batch back. So these
	// writes are safe without the fence around the whole transaction, too, as they have
	// to
	// be in another database than the guarded one.
	private void update(String sql, List<Statement> statements) {
		int[] updated = this.batches.batchUpdate(sql, TokenParameterSource.batch(statements));
		RowFence.requireAllUpdated(updated);
	}

}
