package io.github.singletonjob.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;

import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.RedisServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The same faults with leases in Redis and in etcd; the fence stays in Postgres.
 */
@Timeout(180)
class OtherStoresTests {

	private static final Duration WAIT = Duration.ofSeconds(60);

	private static final Duration THREE_TTLS = BillingCompany.TTL.multipliedBy(3);

	// etcd ends a lease of 2 s up to a quarter of a second later
	private static final Duration TAKEN_OVER = BillingCompany.TTL.plusMillis(1500);

	static Stream<Store> stores() {
		return Stream.of(new Store("redis", "--spring.data.redis.port=" + RedisServer.shared().port()),
				new Store("etcd", "--singleton-job.etcd.endpoints=" + EtcdServer.shared().endpoint()));
	}

	@ParameterizedTest
	@MethodSource("stores")
	void aFrozenHolderCannotCommit(Store store) {
		try (BillingCompany company = new BillingCompany()) {
			JvmProcess first = store.startBoth(company);
			JvmProcess second = company.other(first);
			long token = BillingCompany.awaitBegin(first);
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
			first.freeze();
			Instant frozen = Instant.now();
			assertThat(BillingCompany.awaitBegin(second)).isGreaterThan(token);
			assertThat(BillingCompany.timeOf(second, "BEGIN") - frozen.toEpochMilli())
				.isLessThan(TAKEN_OVER.toMillis());
			company.awaitAllCharged();
			awaitAtLeast(THREE_TTLS, frozen);
			first.resume();
			first.awaitLine("SAYS REFUSED \\d+ with " + token + ".*", WAIT);
			first.awaitLine("SAYS LOST " + token + ".*", WAIT);
			first.awaitLine("SAYS END " + token + " held=false .*", WAIT);
			company.assertBooksAreRight();
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	void withoutTheFenceTheSameHolderChargesCustomersTwice(Store store) {
		try (BillingCompany company = new BillingCompany()) {
			JvmProcess first = store.startBoth(company, "--singleton-job.fencing.enabled=false");
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

	@ParameterizedTest
	@MethodSource("stores")
	void aHolderFrozenInsideATransactionDoesNotBlockItsSuccessor(Store store) {
		try (BillingCompany company = new BillingCompany()) {
			JvmProcess first = store.startBoth(company, "--pause.in-transaction-at=5");
			JvmProcess second = company.other(first);
			long token = BillingCompany.awaitBegin(first);
			first.awaitLine("SAYS INSIDE 5 .*", WAIT);
			first.freeze();
			Instant frozen = Instant.now();
			second.awaitLine("SAYS CHARGED 5 .*", WAIT);
			assertThat(second.lines()).noneMatch((line) -> line.contains("REFUSED"));
			company.awaitAllCharged();
			awaitAtLeast(THREE_TTLS, frozen);
			first.resume();
			first.awaitLine("SAYS REFUSED 5 with " + token + ".*", WAIT);
			company.assertBooksAreRight();
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	void aKilledHolderIsFollowedWhenItsLeaseIsOver(Store store) {
		try (BillingCompany company = new BillingCompany()) {
			JvmProcess first = store.startBoth(company);
			JvmProcess second = company.other(first);
			first.awaitLine("SAYS CHARGED 5 .*", WAIT);
			Instant killed = Instant.now();
			first.kill();
			assertThat(BillingCompany.timeOf(second, "BEGIN") - killed.toEpochMilli())
				.isLessThan(TAKEN_OVER.toMillis());
			company.awaitAllCharged();
			company.assertBooksAreRight();
		}
	}

	private static void awaitAtLeast(Duration duration, Instant since) {
		Awaitility.await()
			.atMost(duration.plusSeconds(10))
			.until(() -> Duration.between(since, Instant.now()).compareTo(duration) >= 0);
	}

	/**
	 * A store, and how to reach it.
	 */
	record Store(String name, String connection) {

		JvmProcess startBoth(BillingCompany company, String... arguments) {
			String[] all = Stream
				.concat(Stream.of("--singleton-job.store=" + this.name, this.connection,
						"--singleton-job.namespace=" + namespace(company)), Stream.of(arguments))
				.toArray(String[]::new);
			company.start("one", all);
			company.start("two", all);
			return company.awaitHolder();
		}

		private static String namespace(BillingCompany company) {
			return company.jdbcUrl().substring(company.jdbcUrl().lastIndexOf('/') + 1);
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

}
