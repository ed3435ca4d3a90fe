package io.github.singletonjob.faults;

import java.time.Duration;
import java.time.Instant;

import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.PostgresServer.Stop;
import io.github.singletonjob.servers.TcpProxy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A holder dies, or its session or its network does. Lease times: ttl 2 s, margin 0.6 s.
 */
@Timeout(180)
class LostLeaseTests {

	private static final Duration WAIT = Duration.ofSeconds(60);

	private static final long LONGEST_OVERLAP = 1400;

	@Test
	void aKilledHolderIsFollowedWithinASecond() {
		try (BillingCompany company = new BillingCompany()) {
			company.start("one");
			company.start("two");
			JvmProcess first = company.awaitHolder();
			JvmProcess second = company.other(first);
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
			Instant killed = Instant.now();
			first.kill();
			BillingCompany.awaitBegin(second);
			assertThat(BillingCompany.timeOf(second, "BEGIN") - killed.toEpochMilli()).isLessThan(1200);
			company.awaitAllCharged();
			company.assertBooksAreRight();
		}
	}

	@Test
	void aHolderWhoseSessionWasTerminatedIsToldAndCannotCommitAfterItsSuccessorHasBegun() {
		try (BillingCompany company = new BillingCompany()) {
			company.start("one");
			company.start("two");
			JvmProcess first = company.awaitHolder();
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
			company.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
					+ " and application_name like 'singleton-job%' and pid in (select pid from pg_locks"
					+ " where locktype = 'advisory' and granted)");
			assertLostAndFollowed(company, first);
		}
	}

	@Test
	void aHolderWhoseConnectionWasResetIsToldAndCannotCommitAfterItsSuccessorHasBegun() {
		try (Cables cables = new Cables(); BillingCompany company = new BillingCompany()) {
			JvmProcess first = cables.startBoth(company);
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
			cables.of(first).refuse();
			cables.of(first).reset();
			assertLostAndFollowed(company, first);
		}
	}

	@Test
	void aHolderWhoseConnectionIsHalfOpenIsToldBeforeItsSuccessorBegins() {
		try (Cables cables = new Cables(); BillingCompany company = new BillingCompany()) {
			JvmProcess first = cables.startBoth(company);
			JvmProcess second = company.other(first);
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
			Instant cut = Instant.now();
			cables.of(first).hang();
			BillingCompany.awaitBegin(second);
			assertThat(BillingCompany.timeOf(second, "BEGIN") - cut.toEpochMilli())
				.isLessThan(BillingCompany.TTL.plusSeconds(1).toMillis());
			assertThat(BillingCompany.timeOf(first, "LOST"))
				.isLessThanOrEqualTo(BillingCompany.timeOf(second, "BEGIN"));
			assertLostAndFollowed(company, first);
		}
	}

	@Test
	void renewalsThatTimeOutInARowInsideTheDeadlineDoNotEndARun() {
		try (TcpProxy proxy = TcpProxy.to(PostgresServer.shared().port());
				BillingCompany company = new BillingCompany()) {
			company.start("one", "--store.url=" + proxy.through(company.jdbcUrl()), "--singleton-job.lease.ttl=6s",
					"--pause.millis=200");
			JvmProcess first = company.awaitHolder();
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
			proxy.hang();
			first.awaitLine(".*renewal failed.*", WAIT);
			proxy.pass();
			first.awaitLine(".*renewal works again.*", WAIT);
			first.awaitLine("SAYS END \\d+ held=true .*", WAIT);
			assertThat(first.lines()).noneMatch((line) -> line.contains("SAYS LOST"));
			company.assertBooksAreRight();
		}
	}

	@Test
	void aHolderThatIsStoppedGivesItsLeaseBackOnlyAfterItsBodyHasEnded() {
		try (BillingCompany company = new BillingCompany()) {
			company.start("one");
			company.start("two");
			JvmProcess first = company.awaitHolder();
			JvmProcess second = company.other(first);
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
			first.terminate();
			long token = BillingCompany.awaitBegin(second);
			long ended = BillingCompany.timeOf(first, "END");
			long begun = BillingCompany.timeOf(second, "BEGIN " + token);
			assertThat(begun).isGreaterThanOrEqualTo(ended);
			assertThat(begun - ended).isLessThan(1000);
			assertThat(first.awaitExit(WAIT)).isEqualTo(143);
			assertThat(first.lines()).noneMatch((line) -> line.contains("SAYS LOST"));
			company.awaitAllCharged();
			company.assertBooksAreRight();
		}
	}

	@Test
	void aRestartOfPostgresDuringARunLosesNothingAndDoublesNothing() {
		try (PostgresServer postgres = PostgresServer.create().start();
				BillingCompany company = new BillingCompany(postgres.newDatabase())) {
			company.start("one", "--pause.millis=100");
			company.start("two", "--pause.millis=100");
			JvmProcess first = company.awaitHolder();
			long token = BillingCompany.awaitBegin(first);
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
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
	private static void assertLostAndFollowed(BillingCompany company, JvmProcess first) {
		JvmProcess second = company.other(first);
		long token = BillingCompany.awaitBegin(first);
		long lost = BillingCompany.timeOf(first, "LOST " + token);
		long begun = BillingCompany.timeOf(second, "BEGIN");
		assertThat(lost - begun).isLessThanOrEqualTo(LONGEST_OVERLAP);
		company.awaitAllCharged();
		first.awaitLine("SAYS END " + token + " held=false .*", WAIT);
		assertThat(first.lines()).filteredOn((line) -> line.contains("SAYS LOST " + token)).hasSize(1);
		company.assertBooksAreRight();
	}

	/**
	 * Each server's own way from its store to the database.
	 */
	private static final class Cables implements AutoCloseable {

		private final TcpProxy one = TcpProxy.to(PostgresServer.shared().port());

		private final TcpProxy two = TcpProxy.to(PostgresServer.shared().port());

		private @Nullable JvmProcess first;

		JvmProcess startBoth(BillingCompany company) {
			this.first = company.start("one", "--store.url=" + this.one.through(company.jdbcUrl()));
			company.start("two", "--store.url=" + this.two.through(company.jdbcUrl()));
			return company.awaitHolder();
		}

		TcpProxy of(JvmProcess server) {
			return (server == this.first) ? this.one : this.two;
		}

		@Override
		public void close() {
			this.one.close();
			this.two.close();
		}

	}

}
