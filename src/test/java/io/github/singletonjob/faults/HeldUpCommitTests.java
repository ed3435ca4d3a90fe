package io.github.singletonjob.faults;

import java.util.List;
import java.util.stream.Stream;

import io.github.singletonjob.servers.JvmProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The commit of a transaction is sent while the lease is held, and arrives after the
 * successor has begun. Nothing but the fence is in its way: the database does not end the
 * session that idles in its transaction meanwhile.
 */
@Timeout(180)
class HeldUpCommitTests {

	/**
	 * They leave the holder more than a second from any renewal on, so that the commit is
	 * sent before the lease is lost.
	 */
	private static final List<String> TIMES = List.of("--singleton-job.fencing.idle-in-transaction-timeout=0",
			"--singleton-job.lease.ttl=3s", "--singleton-job.lease.renew-every=500ms",
			"--singleton-job.lease.stop-early=500ms");

	private final BillingCompany company = new BillingCompany();

	@AfterEach
	void stop() {
		this.company.close();
	}

	@Test
	void aCommitThatIsHeldUpOnTheWireIsRefusedByTheFence() {
		JvmProcess first = holdUpCommit();
		JvmProcess second = this.company.other(first);
		long token = this.company.awaitBegin(first);
		long successor = this.company.awaitBegin(second);
		assertThat(successor).isGreaterThan(token);
		this.company.wayToDatabase(first).pass();
		this.company.awaitLine(second, "SAYS END " + successor + " held=true .*");
		this.company.awaitLine(first, "SAYS END " + token + " held=false .*");
		this.company.assertBooksAreRight();
		this.company.awaitLine(first, "SAYS REFUSED 5 with " + token + ": " + BillingCompany.REFUSED_BY_THE_DATABASE);
	}

	@Test
	void withoutTheFenceTheSameCommitChargesACustomerTwice() {
		JvmProcess first = holdUpCommit("--singleton-job.fencing.enabled=false");
		JvmProcess second = this.company.other(first);
		this.company.awaitBegin(second);
		this.company.wayToDatabase(first).pass();
		this.company.awaitCharged(first, 5);
		this.company.awaitCharged(second, 5);
		assertThat(this.company.customersChargedTwice()).isPositive();
	}

	/**
	 * Starts two servers, and cuts what the holder sends while it is in a transaction.
	 */
	private JvmProcess holdUpCommit(String... more) {
		String[] arguments = Stream.concat(TIMES.stream(), Stream.of(more)).toArray(String[]::new);
		JvmProcess holder = this.company.start("one", arguments);
		this.company.awaitHolderThatPausesAt(5);
		this.company.start("two");
		this.company.awaitLine(holder, "SAYS INSIDE 5 .*");
		this.company.wayToDatabase(holder).hangRequests();
		return holder;
	}

}
