package io.github.singletonjob.faults;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;

import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A holder is stopped in the middle of its run and wakes up after its successor has
 * begun.
 */
@Timeout(180)
class FrozenHolderTests {

	private static final Duration WAIT = Duration.ofSeconds(60);

	private static final String PAUSE_IN_TRANSACTION = "--pause.in-transaction-at=5";

	private static final Duration THREE_TTLS = BillingCompany.TTL.multipliedBy(3);

	@Test
	void aFrozenHolderCannotCommit() {
		try (BillingCompany company = new BillingCompany()) {
			company.start("one");
			company.start("two");
			JvmProcess first = company.awaitHolder();
			JvmProcess second = company.other(first);
			long token = BillingCompany.awaitBegin(first);
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
			first.freeze();
			Instant frozen = Instant.now();
			long successor = BillingCompany.awaitBegin(second);
			assertThat(BillingCompany.timeOf(second, "BEGIN") - frozen.toEpochMilli())
				.isLessThan(BillingCompany.TTL.plusSeconds(1).toMillis());
			assertThat(successor).isGreaterThan(token);
			company.awaitAllCharged();
			awaitAtLeast(THREE_TTLS, frozen);

			first.resume();
			first.awaitLine("SAYS REFUSED \\d+ with " + token + ".*", WAIT);
			first.awaitLine("SAYS LOST " + token + ".*", WAIT);
			first.awaitLine("SAYS END " + token + " held=false .*", WAIT);
			company.assertBooksAreRight();
			assertThat(
					company.number("select count(*) from charge where token not in (" + token + "," + successor + ")"))
				.isZero();
		}
	}

	@Test
	void withoutTheFenceTheSameHolderChargesCustomersTwice() {
		try (BillingCompany company = new BillingCompany()) {
			company.start("one", "--singleton-job.fencing.enabled=false");
			company.start("two", "--singleton-job.fencing.enabled=false");
			JvmProcess first = company.awaitHolder();
			long token = BillingCompany.awaitBegin(first);
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
			first.freeze();
			Instant frozen = Instant.now();
			company.awaitAllCharged();
			awaitAtLeast(THREE_TTLS, frozen);
			first.resume();
			first.awaitLine("SAYS END " + token + ".*", WAIT);
			assertThat(company.customersChargedTwice()).isGreaterThan(5);
		}
	}

	@Test
	void aHolderFrozenInsideATransactionDoesNotBlockItsSuccessor() {
		try (BillingCompany company = new BillingCompany()) {
			company.start("one", PAUSE_IN_TRANSACTION);
			company.start("two", PAUSE_IN_TRANSACTION);
			JvmProcess first = company.awaitHolder();
			JvmProcess second = company.other(first);
			long token = BillingCompany.awaitBegin(first);
			first.awaitLine("SAYS INSIDE 5 .*", WAIT);
			first.freeze();
			Instant frozen = Instant.now();
			second.awaitLine("SAYS CHARGED 5 .*", WAIT);
			assertThat(Duration.between(frozen, Instant.now()))
				.isLessThan(BillingCompany.TTL.multipliedBy(2).plusSeconds(2));
			assertThat(second.lines()).noneMatch((line) -> line.contains("REFUSED"));
			company.awaitAllCharged();
			awaitAtLeast(THREE_TTLS, frozen);
			first.resume();
			first.awaitLine("SAYS REFUSED 5 with " + token + ".*", WAIT);
			first.awaitLine("SAYS END " + token + " held=false .*", WAIT);
			company.assertBooksAreRight();
		}
	}

	@Test
	void aHolderWhoseCommitIsHeldUpOnTheWireCannotCommitLater() {
		try (BillingCompany company = new BillingCompany();
				TcpProxy proxy = TcpProxy.to(PostgresServer.shared().port())) {
			company.startBehind(proxy, "one", PAUSE_IN_TRANSACTION);
			JvmProcess first = company.awaitHolder();
			JvmProcess second = company.start("two");
			long token = BillingCompany.awaitBegin(first);
			first.awaitLine("SAYS INSIDE 5 .*", WAIT);
			proxy.hangRequests();
			long successor = BillingCompany.awaitBegin(second);
			assertThat(successor).isGreaterThan(token);
			second.awaitLine("SAYS END " + successor + " held=true .*", WAIT);
			proxy.pass();
			first.awaitLine("SAYS REFUSED 5 with " + token + ".*", WAIT);
			first.awaitLine("SAYS END " + token + " held=false .*", WAIT);
			company.assertBooksAreRight();
		}
	}

	@Test
	void aTransactionOfTheApplicationOutsideAnyRunMayIdleForLongerThanTheTtl() throws SQLException {
		try (BillingCompany company = new BillingCompany();
				Connection own = PostgresServer.connect(company.jdbcUrl());
				Statement statement = own.createStatement()) {
			company.execute("create table note (text text)");
			own.setAutoCommit(false);
			statement.execute("insert into note values ('of the application')");
			Instant begun = Instant.now();
			company.start("one");
			JvmProcess first = company.awaitHolder();
			first.awaitLine("SAYS END \\d+ held=true .*", WAIT);
			awaitAtLeast(THREE_TTLS, begun);
			own.commit();
			assertThat(company.number("select count(*) from note")).isEqualTo(1);
		}
	}

	private static void awaitAtLeast(Duration duration, Instant since) {
		Awaitility.await()
			.atMost(duration.plusSeconds(10))
			.until(() -> Duration.between(since, Instant.now()).compareTo(duration) >= 0);
	}

}
