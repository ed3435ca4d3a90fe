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
 * The commit of a transaction comes late: one of a run, which is refused by then, and one
 * of the application's own, which nobody ends.
 */
@Timeout(180)
class HeldUpCommitTests {

	private static final Duration THREE_TTLS = BillingCompany.TTL.multipliedBy(3);

	@Test
	void aHolderWhoseCommitIsHeldUpOnTheWireCannotCommitLater() {
		try (BillingCompany company = new BillingCompany();
				TcpProxy proxy = TcpProxy.to(PostgresServer.shared().port())) {
			company.startBehind(proxy, "one");
			JvmProcess first = company.awaitHolderThatPausesAt(5);
			JvmProcess second = company.start("two");
			long token = company.awaitBegin(first);
			company.awaitLine(first, "SAYS INSIDE 5 .*");
			proxy.hangRequests();
			long successor = company.awaitBegin(second);
			assertThat(successor).isGreaterThan(token);
			company.awaitLine(second, "SAYS END " + successor + " held=true .*");
			proxy.pass();
			company.awaitLine(first, "SAYS REFUSED 5 with " + token + ".*");
			company.awaitLine(first, "SAYS END " + token + " held=false .*");
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
			company.awaitLine(first, "SAYS END \\d+ held=true .*");
			Awaitility.await()
				.atMost(THREE_TTLS.plusSeconds(10))
				.until(() -> Duration.between(begun, Instant.now()).compareTo(THREE_TTLS) >= 0);
			own.commit();
			assertThat(company.number("select count(*) from note")).isEqualTo(1);
		}
	}

}
