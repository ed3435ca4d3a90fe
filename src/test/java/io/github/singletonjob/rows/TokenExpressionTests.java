package io.github.singletonjob.rows;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeasedRun;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * {@code :#{singletonJob.token}} in the queries of a repository.
 */
@Timeout(120)
class TokenExpressionTests {

	private static final InvoiceDatabase database = new InvoiceDatabase();

	private static ConfigurableApplicationContext application;

	private static Invoices invoices;

	private static TransactionTemplate transactions;

	private final LeasedRun run = Runs.of("billing", 33);

	@BeforeAll
	static void start() {
		application = InvoiceApplication.start(database.url(), false);
		invoices = application.getBean(Invoices.class);
		transactions = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
	}

	@AfterAll
	static void close() {
		application.close();
	}

	@BeforeEach
	void reset() {
		database.reset();
	}

	@Test
	void aQueryInJpqlOrSqlGetsTheTokenOfTheCurrentRun() {
		Runs.in(this.run, () -> transactions.executeWithoutResult((status) -> {
			invoices.charge(1);
			assertThat(invoices.chargeNatively(2)).isOne();
		}));
		assertThat(database.fence(1)).isEqualTo(33);
		assertThat(database.fence(2)).isEqualTo(33);
		Runs.in(Runs.of("billing", 34), () -> transactions.executeWithoutResult((status) -> invoices.charge(1)));
		assertThat(database.fence(1)).isEqualTo(34);
		Runs.in(this.run, () -> assertThat(invoices.countWrittenByNewerRuns()).isOne());
	}

	@Test
	void noRowIsARefusal() {
		database.write(34);
		Runs.in(this.run, () -> assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> transactions.executeWithoutResult((status) -> invoices.charge(1))));
		assertThat(database.status(1)).isEqualTo("NEW");
	}

	@Test
	void otherQueriesNeedNoRun() {
		assertThat(invoices.countByStatus("OPEN")).isEqualTo(2);
	}

	@Test
	void outsideOfARunTheQueryFailsAndSaysWhy() {
		Throwable failure = catchThrowable(
				() -> transactions.executeWithoutResult((status) -> invoices.chargeNatively(1)));
		assertThat(NestedExceptionUtils.getMostSpecificCause(failure)).isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("No job run");
		assertThat(database.status(1)).isEqualTo("OPEN");
	}

	@Test
	void aRealRunIsLostByTheRefusalEvenIfItsBodySwallowsIt() {
		database.write(Long.MAX_VALUE);
		RunResult result = application.getBean(SingletonJobs.class).run("billing", (current) -> {
			Throwable refusal = catchThrowable(() -> transactions.executeWithoutResult((status) -> invoices.charge(1)));
			assertThat(refusal).isInstanceOf(StaleTokenException.class);
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(database.status(1)).isEqualTo("NEW");
	}

}
