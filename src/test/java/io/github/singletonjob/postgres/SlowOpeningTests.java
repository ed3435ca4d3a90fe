package io.github.singletonjob.postgres;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.servers.PostgresServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A connection takes longer to open than a call may take: TLS, a password, the distance.
 */
@Timeout(60)
class SlowOpeningTests {

	private final String url = Databases.create();

	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(6), Duration.ofSeconds(1),
			Duration.ofMillis(700));

	private final AtomicInteger opened = new AtomicInteger();

	private final Instances instances = new Instances(() -> Databases.store(this.url), this.traits);

	private final JobId job = this.instances.job("billing");

	@AfterEach
	void closeStores() throws Exception {
		this.instances.close();
	}

	@Test
	void doesNotCountAgainstTheCall() {
		SessionSource slow = () -> {
			LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
			return PostgresServer.connect(this.url);
		};
		try (PostgresLeaseStore store = new PostgresLeaseStore(slow, "singleton-job test")) {
			store.probe();
			assertThat(store.release(this.instances.acquire(store, this.job))).isTrue();
		}
	}

	@Test
	void isWaitedForNoLongerThanAThirdOfTheTimeToLiveAndServesTheNextAttempt() {
		CountDownLatch answers = new CountDownLatch(1);
		try (PostgresLeaseStore store = new PostgresLeaseStore(() -> {
			if (this.opened.incrementAndGet() > 2) {
				awaitQuietly(answers);
			}
			return PostgresServer.connect(this.url);
		}, "singleton-job test")) {
			store.probe();
			long start = System.nanoTime();
			assertThatExceptionOfType(LeaseStoreException.class)
				.isThrownBy(() -> this.instances.isHeld(store, this.job))
				.withMessageContaining("no session was open in time");
			assertThat(Duration.ofNanos(System.nanoTime() - start))
				.isGreaterThanOrEqualTo(this.traits.ttl().dividedBy(3))
				.isLessThan(this.traits.ttl().dividedBy(2));
			answers.countDown();
			Awaitility.await().until(() -> Databases.sessions(this.url) == 1);
			// Longer than a session is kept that was used
			Awaitility.await().pollDelay(this.traits.ttl().multipliedBy(2).dividedBy(3)).until(() -> true);
			this.instances.acquire(store, this.job);
			assertThat(this.opened).hasValue(3);
		}
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
