package io.github.singletonjob.rows;

import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.fencing.RowFence;
import io.github.singletonjob.fencing.TokenParameterSource;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.verify;

/**
 * Batches in plain JDBC that carry the token in each row.
 */
@Timeout(120)
class BatchTests {

	private static final String SEND = """
			update invoice set status = :status, fence = :token where id = :id and fence <= :token""";

	private static final String UPSERT = """
			insert into invoice as i (id, status, fence) values (:id, :status, :token)
			on conflict (id) do update set status = excluded.status, fence = excluded.fence
			where i.fence <= excluded.fence""";

	private final InvoiceDatabase database = new InvoiceDatabase();

	private final LeasedRun run = Runs.of("statements", 33);

	@BeforeEach
	void reset() {
		this.database.reset();
		this.database.execute("insert into invoice (id) select generate_series(3, 100)");
	}

	@Test
	void everyRowOfABatchGetsTheToken() {
		Runs.in(this.run, () -> send(SEND, ""));
		assertThat(this.database.number("select count(*) from invoice where fence = 33 and status = 'SENT'"))
			.isEqualTo(100);
	}

	@Test
	void oneRowOfANewerRunRefusesTheWholeBatch() {
		this.database.execute("update invoice set fence = 34, status = 'NEW' where id = 70");
		Runs.in(this.run,
				() -> assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> send(SEND, ""))
					.withMessageContaining("update 70 of the batch of 100 changed no row under token 33")
					.satisfies((ex) -> verify(this.run).refused(ex)));
		assertThat(this.database.number("select count(*) from invoice where status = 'SENT'")).isZero();
	}

	@Test
	void withoutTheConditionTheBatchOverwritesIt() {
		this.database.execute("update invoice set fence = 34, status = 'NEW' where id = 70");
		Runs.in(this.run, () -> send(SEND.replace("and fence <= :token", ""), ""));
		assertThat(this.database.status(70)).isEqualTo("SENT");
	}

	@Test
	void anInsertThatMayFindItsRowThereIsGuarded() {
		this.database.execute("delete from invoice where id < 50");
		Runs.in(this.run, () -> send(UPSERT, ""));
		assertThat(this.database.number("select count(*) from invoice where fence = 33")).isEqualTo(100);
		this.database.execute("update invoice set fence = 34, status = 'NEW' where id = 70");
		Runs.in(this.run,
				() -> assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> send(UPSERT, "")));
		assertThat(this.database.status(70)).isEqualTo("NEW");
	}

	@Test
	void aDriverThatMergesStatementsDoesNotSayWhatItDidAndIsRefused() {
		this.database.execute("update invoice set fence = 34, status = 'NEW' where id = 70");
		Runs.in(this.run,
				() -> assertThatIllegalStateException().isThrownBy(() -> send(UPSERT, "?reWriteBatchedInserts=true"))
					.withMessageContaining("SUCCESS_NO_INFO"));
	}

	@Test
	void aBatchInPartsIsCountedAsOne() {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource(""));
		List<Long> ids = LongStream.rangeClosed(1, 100).boxed().toList();
		String sql = "update invoice set fence = ? where id = ? and fence <= ?";
		Runs.in(this.run, () -> {
			RowFence.requireAllUpdated(parts(jdbc, sql, ids));
			this.database.execute("update invoice set fence = 34 where id = 70");
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> RowFence.requireAllUpdated(parts(jdbc, sql, ids)))
				.withMessageContaining("update 70 of the batch of 100");
		});
	}

	private static int[][] parts(JdbcTemplate jdbc, String sql, List<Long> ids) {
		return jdbc.batchUpdate(sql, ids, 30, (statement, id) -> {
			statement.setLong(1, RowFence.token());
			statement.setLong(2, id);
			statement.setLong(3, RowFence.token());
		});
	}

	@Test
	void aJdbcClientTakesTheTokenWithARecordABeanOrAMap() {
		JdbcClient jdbc = JdbcClient.create(dataSource(""));
		Runs.in(this.run, () -> {
			assertThat(jdbc.sql(SEND).paramSource(TokenParameterSource.of(new Mail(1, "RECORD"))).update()).isOne();
			assertThat(jdbc.sql(SEND).paramSource(TokenParameterSource.of(Map.of("id", 2L, "status", "MAP"))).update())
				.isOne();
			Invoice bean = new Invoice(3);
			bean.setStatus("BEAN");
			assertThat(jdbc.sql(SEND).paramSource(TokenParameterSource.of(bean)).update()).isOne();
		});
		assertThat(this.database.number("select count(*) from invoice where fence = 33")).isEqualTo(3);
	}

	@Test
	void aRunThatIsOverGetsNoToken() {
		willThrow(new LeaseLostException("statements", 33, "over")).given(this.run).ensureOpen();
		Runs.in(this.run, () -> {
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(RowFence::token);
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> send(SEND, ""));
		});
		assertThat(this.database.number("select count(*) from invoice where fence = 33")).isZero();
	}

	@Test
	void thereIsNoTokenOutsideOfARun() {
		assertThatIllegalStateException().isThrownBy(() -> TokenParameterSource.of(Map.of()))
			.withMessageContaining("No job run");
		assertThatIllegalStateException().isThrownBy(() -> TokenParameterSource.batch(List.of()))
			.withMessageContaining("No job run");
	}

	private void send(String sql, String urlSuffix) {
		DriverManagerDataSource dataSource = dataSource(urlSuffix);
		NamedParameterJdbcTemplate jdbc = new NamedParameterJdbcTemplate(dataSource);
		List<Mail> mails = LongStream.rangeClosed(1, 100).mapToObj((id) -> new Mail(id, "SENT")).toList();
		new TransactionTemplate(new JdbcTransactionManager(dataSource)).executeWithoutResult(
				(status) -> RowFence.requireAllUpdated(jdbc.batchUpdate(sql, TokenParameterSource.batch(mails))));
	}

	private DriverManagerDataSource dataSource(String urlSuffix) {
		return new DriverManagerDataSource(this.database.url() + urlSuffix, PostgresServer.USERNAME, "");
	}

	record Mail(long id, String status) {
	}

}
