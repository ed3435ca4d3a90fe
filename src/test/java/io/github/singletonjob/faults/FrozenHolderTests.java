package io.github.singletonjob.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A holder is stopped in the middle of its run and wakes up after its successor has
 * begun, or does not wake up at all. The leases are in each store in turn, the fence is
 * in Postgres. The two servers live on from one test to the next.
 */
@Timeout(180)
@ParameterizedClass
@MethodSource("io.github.singletonjob.faults.Store#all")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FrozenHolderTests {

	private static final Duration THREE_TTLS = BillingCompany.TTL.multipliedBy(3);

	private static @Nullable BillingCompany shared;

	private final Store store;

	private final BillingCompany company = Objects.requireNonNull(shared);

	FrozenHolderTests(Store store) {
		this.store = store;
	}

	@BeforeParameterizedClassInvocation
	static void start(Store store) {
		shared = new BillingCompany();
		startBoth(shared, store);
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		if (shared != null) {
			shared.close();
		}
	}

	/** A test that fails leaves the others what they need. */
	@AfterEach
	void wakeEverybodyUp() {
		this.company.resumeAll();
	}

	/**
	 * Its commit was sent while it held the lease, and arrives while it is frozen:
	 * nothing but the check in the database refuses it.
	 */
	@Test
	void aFrozenHolderCannotCommit() {
		try (BillingCompany own = new BillingCompany()) {
			startBoth(own, this.store, "--singleton-job.fencing.idle-in-transaction-timeout=0");
			JvmProcess first = own.awaitHolderThatPausesAt(5);
			JvmProcess second = own.other(first);
			long token = own.awaitBegin(first);
			own.awaitLine(first, "SAYS INSIDE 5 .*");
			TcpProxy wayToDatabase = own.wayToDatabase(first);
			wayToDatabase.hangRequests();
			wayToDatabase.awaitHeldRequest(THREE_TTLS);
			first.freeze();
			Instant frozen = Instant.now();
			long successor = own.awaitBegin(second);
			assertThat(Duration.ofMillis(own.timeOf(second, "BEGIN") - frozen.toEpochMilli()))
				.isLessThan(this.store.frozen());
			assertThat(successor).isGreaterThan(token);
			wayToDatabase.pass();
			own.awaitAllCharged();
			awaitAtLeast(THREE_TTLS, frozen);

			first.resume();
			own.awaitLine(first, "SAYS END " + token + " held=false .*");
			own.assertBooksAreRight();
			own.awaitLine(first, "SAYS REFUSED 5 with " + token + ": " + BillingCompany.REFUSED_BY_THE_DATABASE);
			own.awaitLine(first, "SAYS REFUSED 6 with " + token + ".*");
			own.awaitLine(first, "SAYS LOST " + token + ".*");
			assertThat(own.number("select count(*) from charge where token not in (" + token + "," + successor + ")"))
				.isZero();
		}
	}

	@Test
	void aHolderFrozenInsideATransactionDoesNotBlockItsSuccessor() {
		JvmProcess first = this.company.awaitHolderThatPausesAt(5);
		JvmProcess second = this.company.other(first);
		long token = this.company.awaitBegin(first);
		this.company.awaitLine(first, "SAYS INSIDE .*");
		first.freeze();
		Instant frozen = Instant.now();
		this.company.awaitCharged(second, 5);
		assertThat(Duration.between(frozen, Instant.now()))
			.isLessThan(BillingCompany.TTL.multipliedBy(2).plusSeconds(2));
		assertThat(this.company.lines(second)).noneMatch((line) -> line.contains("REFUSED"));
		this.company.awaitAllCharged();
		awaitAtLeast(THREE_TTLS, frozen);

		first.resume();
		this.company.awaitLine(first, "SAYS END " + token + " held=false .*");
		this.company.assertBooksAreRight();
		this.company.awaitLine(first, "SAYS REFUSED " + this.company.customer(5) + " with " + token + ".*");
	}

	@Test
	@Order(Integer.MAX_VALUE)
	void aKilledHolderIsFollowedWhenItsLeaseIsOver() {
		JvmProcess first = this.company.awaitHolder();
		JvmProcess second = this.company.other(first);
		this.company.awaitCharged(first, 5);
		Instant killed = Instant.now();
		first.kill();
		assertThat(Duration.ofMillis(this.company.timeOf(second, "BEGIN") - killed.toEpochMilli()))
			.isLessThan(this.store.killed());
		this.company.awaitAllCharged();
		this.company.assertBooksAreRight();
	}

	/** The fence is the same with each store, and the fault runs go without it on all. */
	@Test
	void withoutTheFenceTheSameHolderChargesCustomersTwice() {
		assumeTrue(this.store.connection().isEmpty(), "leases in the company's own database");
		try (BillingCompany unfenced = new BillingCompany()) {
			startBoth(unfenced, this.store, "--singleton-job.fencing.enabled=false");
			JvmProcess first = unfenced.awaitHolder();
			long token = unfenced.awaitBegin(first);
			unfenced.awaitCharged(first, 5);
			first.freeze();
			Instant frozen = Instant.now();
			unfenced.awaitAllCharged();
			awaitAtLeast(THREE_TTLS, frozen);
			first.resume();
			unfenced.awaitLine(first, "SAYS END " + token + ".*");
			assertThat(unfenced.customersChargedTwice()).isGreaterThan(5);
		}
	}

	private static void startBoth(BillingCompany company, Store store, String... arguments) {
		company.start("one", store.arguments(company, arguments));
		company.start("two", store.arguments(company, arguments));
	}

	private static void awaitAtLeast(Duration duration, Instant since) {
		Awaitility.await()
			.atMost(duration.plusSeconds(10))
			.until(() -> Duration.between(since, Instant.now()).compareTo(duration) >= 0);
	}

}
