package io.github.singletonjob.faults;

import java.time.Duration;
import java.time.Instant;

import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.PostgresServer.Stop;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The session of a holder, its network or its database ends, or it is stopped. Lease
 * times: ttl 2 s, margin 0.6 s. Two servers live on from one test to the next.
 */
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LostLeaseTests {

	private static final Duration WAIT = Duration.ofSeconds(60);

	private static final long LONGEST_OVERLAP = 1400;

	private final BillingCompany company = new BillingCompany();

	private final Cables cables = new Cables();

	@BeforeAll
	void start() {
		this.cables.startBoth(this.company);
	}

	@AfterEach
	void mend() {
		this.cables.mend();
	}

	@AfterAll
	void stop() {
		this.company.close();
		this.cables.close();
	}

	@Test
	void aHolderWhoseSessionWasTerminatedIsToldAndCannotCommitAfterItsSuccessorHasBegun() {
		JvmProcess first = this.company.awaitHolder();
		this.company.awaitCharged(first, 5);
		this.company.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
				+ " and application_name like 'singleton-job%' and pid in (select pid from pg_locks"
				+ " where locktype = 'advisory' and granted)");
		assertLostAndFollowed(first);
	}

	@Test
	void aHolderWhoseConnectionWasResetIsToldAndCannotCommitAfterItsSuccessorHasBegun() {
		JvmProcess first = this.company.awaitHolder();
		this.company.awaitCharged(first, 5);
		this.cables.of(first).refuse();
		this.cables.of(first).reset();
		assertLostAndFollowed(first);
	}

	@Test
	void aHolderWhoseConnectionIsHalfOpenIsToldBeforeItsSuccessorBegins() {
		JvmProcess first = this.company.awaitHolder();
		JvmProcess second = this.company.other(first);
		this.company.awaitCharged(first, 5);
		Instant cut = Instant.now();
		this.cables.of(first).hang();
		this.company.awaitBegin(second);
		assertThat(this.company.timeOf(second, "BEGIN") - cut.toEpochMilli())
			.isLessThan(BillingCompany.TTL.plusSeconds(1).toMillis());
		assertThat(this.company.timeOf(first, "LOST")).isLessThanOrEqualTo(this.company.timeOf(second, "BEGIN"));
		assertLostAndFollowed(first);
	}

	@Test
	@Order(Integer.MAX_VALUE)
	void aHolderThatIsStoppedCommitsAndGivesItsLeaseBackOnlyAfterItsBodyHasEnded() {
		JvmProcess first = this.company.awaitHolder();
		JvmProcess second = this.company.other(first);
		this.company.awaitCharged(first, 5);
		first.terminate();
		first.awaitLine(".*is cancelled, because the application is stopping", WAIT);
		assertThat(this.company.awaitHolder()).isSameAs(second);
		long ended = this.company.timeOf(first, "END");
		long begun = this.company.timeOf(second, "BEGIN");
		assertThat(begun).isGreaterThanOrEqualTo(ended);
		assertThat(begun - ended).isLessThan(1000);
		assertThat(first.awaitExit(WAIT)).isEqualTo(143);
		assertThat(this.company.lines(first)).as("of a body that does not look whether it is to stop")
			.anyMatch((line) -> line.startsWith("SAYS CHARGED"))
			.anyMatch((line) -> line.matches("SAYS END \\d+ held=false .*"))
			.noneMatch((line) -> line.startsWith("SAYS REFUSED"))
			.noneMatch((line) -> line.startsWith("SAYS LOST"));
		this.company.awaitAllCharged();
		this.company.assertBooksAreRight();
	}

	@Test
	void aHolderThatMayFinishIsNotToldOfTheStop() {
		try (BillingCompany company = new BillingCompany()) {
			company.start("one", "--singleton-job.on-shutdown=finish");
			JvmProcess only = company.awaitHolder();
			company.awaitCharged(only, 5);
			only.terminate();
			only.awaitLine("SAYS END \\d+ held=true .*", WAIT);
			assertThat(only.awaitExit(WAIT)).isEqualTo(143);
			assertThat(only.lines())
				.anyMatch((line) -> line.contains("may finish although the application is stopping"));
			company.assertBooksAreRight();
		}
	}

	@Test
	void threeRenewalsInARowThatTimeOutDoNotEndARun() {
		try (TcpProxy proxy = TcpProxy.to(PostgresServer.shared().port());
				BillingCompany company = new BillingCompany()) {
			company.start("one", "--store.url=" + proxy.through(company.jdbcUrl()), "--singleton-job.lease.ttl=12s",
					"--singleton-job.lease.renew-every=1s", "--pause.millis=300",
					"--logging.level.io.github.singletonjob.runtime=debug");
			JvmProcess first = company.awaitHolder();
			company.awaitCharged(first, 5);
			proxy.hang();
			Awaitility.await().atMost(WAIT).until(() -> failedRenewals(first) >= 3);
			proxy.pass();
			first.awaitLine(".*renewal works again.*", WAIT);
			first.awaitLine("SAYS END \\d+ held=true .*", WAIT);
			assertThat(first.lines()).noneMatch((line) -> line.contains("SAYS LOST"));
			company.assertBooksAreRight();
		}
	}

	private static long failedRenewals(JvmProcess server) {
		return server.lines().stream().filter((line) -> line.contains("renewal failed")).count();
	}

	@Test
	void aRestartOfPostgresDuringARunLosesNothingAndDoublesNothing() {
		try (PostgresServer postgres = PostgresServer.create().start();
				BillingCompany company = new BillingCompany(postgres.newDatabase())) {
			company.start("one", "--pause.millis=100");
			company.start("two", "--pause.millis=100");
			JvmProcess first = company.awaitHolder();
			long token = company.awaitBegin(first);
			company.awaitCharged(first, 5);
			postgres.restart(Stop.IMMEDIATE);
			first.awaitLine("SAYS LOST " + token + ".*", WAIT);
			company.awaitAllCharged();
			first.awaitLine("SAYS END " + token + ".*", WAIT);
			company.assertBooksAreRight();
		}
	}

	/**
	 * The successor may begin before the loss is noticed, but not by more than promised.
	 */
	private void assertLostAndFollowed(JvmProcess first) {
		JvmProcess second = this.company.other(first);
		long token = this.company.awaitBegin(first);
		long lost = this.company.timeOf(first, "LOST " + token);
		long begun = this.company.timeOf(second, "BEGIN");
		assertThat(lost - begun).isLessThanOrEqualTo(LONGEST_OVERLAP);
		this.company.awaitAllCharged();
		this.company.awaitLine(first, "SAYS END " + token + " held=false .*");
		assertThat(this.company.lines(first)).filteredOn((line) -> line.contains("SAYS LOST " + token)).hasSize(1);
		this.company.assertBooksAreRight();
	}

	/**
	 * Each server's own way from its store to the database.
	 */
	private static final class Cables implements AutoCloseable {

		private final TcpProxy one = TcpProxy.to(PostgresServer.shared().port());

		private final TcpProxy two = TcpProxy.to(PostgresServer.shared().port());

		private @Nullable JvmProcess first;

		void startBoth(BillingCompany company) {
			this.first = company.start("one", "--store.url=" + this.one.through(company.jdbcUrl()));
			company.start("two", "--store.url=" + this.two.through(company.jdbcUrl()));
		}

		TcpProxy of(JvmProcess server) {
			return (server == this.first) ? this.one : this.two;
		}

		void mend() {
			this.one.pass();
			this.two.pass();
		}

		@Override
		public void close() {
			this.one.close();
			this.two.close();
		}

	}

}
