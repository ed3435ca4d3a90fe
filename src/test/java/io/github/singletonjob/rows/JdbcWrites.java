package io.github.singletonjob.rows;

import java.util.Map;

import io.github.singletonjob.fencing.RowFence;
import io.github.singletonjob.fencing.TokenParameterSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Writes by SQL that compares the token, or does not.
 */
final class JdbcWrites implements Writes {

	private static final String UPDATE = "update invoice set status = :status, version = version + 1, fence = :token";

	private final JdbcClient jdbc;

	private final TransactionTemplate transactions;

	private final boolean checked;

	JdbcWrites(JdbcClient jdbc, TransactionTemplate transactions, boolean checked) {
		this.jdbc = jdbc;
		this.transactions = transactions;
		this.checked = checked;
	}

	@Override
	public void update(long id, Runnable betweenReadAndWrite) {
		this.transactions.executeWithoutResult((status) -> {
			String read = this.jdbc.sql("select status from invoice where id = :id")
				.param("id", id)
				.query(String.class)
				.single();
			betweenReadAndWrite.run();
			write(UPDATE + " where id = :id", Map.of("id", id, "status", "STALE", "read", read));
		});
	}

	@Override
	public void updateAll() {
		this.transactions.executeWithoutResult((status) -> write(UPDATE + " where true", Map.of("status", "STALE")));
	}

	@Override
	public void delete(long id) {
		this.transactions
			.executeWithoutResult((status) -> write("delete from invoice where id = :id", Map.of("id", id)));
	}

	@Override
	public void insert(long id) {
		this.transactions.executeWithoutResult(
				(status) -> this.jdbc.sql("insert into invoice (id, status, fence) values (:id, 'STALE', :token)")
					.paramSource(TokenParameterSource.of(Map.of("id", id)))
					.update());
	}

	private void write(String sql, Map<String, Object> values) {
		int rows = this.jdbc.sql(this.checked ? sql + " and fence <= :token" : sql)
			.paramSource(TokenParameterSource.of(values))
			.update();
		RowFence.requireUpdated(rows);
	}

}
