package io.github.singletonjob.sample.company.statements;

import java.io.IOException;
import java.util.List;

import javax.sql.DataSource;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.StaleTokenException;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Batches of a holder that has been overtaken, in a database without a fence.
 */
@Timeout(120)
class StatementBookTests {

	private final Statement first = new Statement(1, "one@mail.example", 7, 500);

	private final Statement second = new Statement(2, "two@mail.example", 7, 600);

	private EmbeddedPostgres postgres;

	private JdbcClient jdbc;

	private TransactionTemplate transactions;

	private StatementBook book;

	@BeforeEach
	void open() throws IOException {
		this.postgres = EmbeddedPostgres.builder().setLocaleConfig("locale", "C").start();
		DataSource dataSource = this.postgres.getPostgresDatabase();
		new ResourceDatabasePopulator(new ClassPathResource("schema.sql")).execute(dataSource);
		this.jdbc = JdbcClient.create(dataSource);
		this.transactions = new TransactionTemplate(new JdbcTransactionManager(dataSource));
		this.book = new StatementBook(this.jdbc, new NamedParameterJdbcTemplate(dataSource));
		this.jdbc.sql("insert into customer values (1, 'One', 'one@mail.example', 500), (2, 'Two', 'two', 600)")
			.update();
		this.jdbc.sql("insert into billing_period values (7, now(), now())").update();
	}

	@AfterEach
	void close() throws IOException {
		this.postgres.close();
	}

	@Test
	void everyStatementCarriesTheTokenOfTheRunThatWroteItLast() {
		as(33, () -> this.book.write(List.of(this.first, this.second)));
		as(34, () -> this.book.markMailed(List.of(this.first)));
		assertThat(tokens()).containsExactly(34L, 33L);
	}

	@Test
	void aNewerRunWritesOverWhatAnOlderOneHasLeft() {
		as(33, () -> this.book.write(List.of(this.first)));
		as(34, () -> this.book.write(List.of(this.first, this.second)));
		assertThat(tokens()).containsExactly(34L, 34L);
	}

	@Test
	void aLateHolderCannotWriteWhatItsSuccessorHasWritten() {
		as(34, () -> this.book.write(List.of(this.second)));
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> as(33, () -> this.book.write(List.of(this.first, this.second))));
		assertThat(tokens()).containsExactly(34L);
	}

	@Test
	void aLateHolderCannotMarkWhatItsSuccessorHasMarked() {
		as(33, () -> this.book.write(List.of(this.first, this.second)));
		as(34, () -> this.book.markMailed(List.of(this.second)));
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> as(33, () -> this.book.markMailed(List.of(this.first, this.second))));
		assertThat(tokens()).containsExactly(33L, 34L);
	}

	private void as(long token, Runnable work) {
		JobRun run = mock(JobRun.class);
		given(run.job()).willReturn("statements");
		given(run.token()).willReturn(token);
		try (var scope = CurrentJobRun.open(run)) {
			this.transactions.executeWithoutResult((status) -> work.run());
		}
	}

	private List<Long> tokens() {
		return this.jdbc.sql("select token from statement order by customer_id").query(Long.class).list();
	}

}
