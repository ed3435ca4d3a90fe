package io.github.singletonjob.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.servers.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is kept of fire times, whoever asks at the same time and whatever is lost.
 */
@Timeout(90)
class RedisFireTimeTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** How long others may hold a job that ends at once. */
	private static final Duration PATIENCE = Duration.ofSeconds(15);

	private final RedisServer server = RedisServer.shared();

	private final List<RedisLeaseStore> stores = List.of(Stores.open(this.server), Stores.open(this.server),
			Stores.open(this.server));

	private final JobId job = Stores.job("fire times " + UUID.randomUUID());

	private final Instant one = Instant.now().truncatedTo(ChronoUnit.DAYS);

	@AfterEach
	void close() {
		this.stores.forEach(RedisLeaseStore::close);
	}

	private LeaseRequest request(Instant fireTime) {
		return Stores.request(this.job, TIMEOUT).forFiring(new Firing("", fireTime, true));
	}

	private LeaseGrant acquire(RedisLeaseStore store, LeaseRequest request) {
		return ((Acquisition.Acquired) store.tryAcquire(request)).grant();
	}

	@Test
	void eachIsGrantedOnceToInstancesThatAskAtTheSameTime() {
		ConcurrentLinkedQueue<Instant> ran = new ConcurrentLinkedQueue<>();
		List<Instant> fireTimes = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			Instant fireTime = this.one.plusSeconds(i);
			fireTimes.add(fireTime);
			CompletableFuture
				.allOf(this.stores.stream()
					.map((store) -> CompletableFuture.runAsync(() -> fire(store, fireTime, ran)))
					.toArray(CompletableFuture[]::new))
				.join();
		}
		assertThat(ran).containsExactlyElementsOf(fireTimes);
	}

	/** A job that is so short that others ask while it ends. */
	private void fire(RedisLeaseStore store, Instant fireTime, ConcurrentLinkedQueue<Instant> ran) {
		LeaseRequest request = request(fireTime);
		Acquisition answer = store.tryAcquire(request);
		long start = System.nanoTime();
		while (answer instanceof Acquisition.Held && System.nanoTime() - start < PATIENCE.toNanos()) {
			answer = store.tryAcquire(request);
		}
		assertThat(answer).as("after " + PATIENCE).isNotInstanceOf(Acquisition.Held.class);
		if (answer instanceof Acquisition.Acquired acquired) {
			ran.add(fireTime);
			assertThat(store.release(acquired.grant(), fireTime)).isTrue();
		}
	}

	@Test
	void aRepeatedRequestGetsTheSameAnswerInAllParts() {
		LeaseGrant expired = acquire(this.stores.get(0), request(this.one));
		this.server.ask((commands) -> commands.del(Stores.leaseKey(this.job)));
		LeaseRequest request = request(this.one.plusSeconds(60));
		LeaseGrant first = acquire(this.stores.get(1), request);
		assertThat(first.followsUnreleased()).isTrue();
		assertThat(first.fireTime().takeover()).isTrue();
		assertThat(acquire(this.stores.get(1), request)).isEqualTo(first);
		assertThat(first.token()).isGreaterThan(expired.token());
	}

	@Test
	void ofAWipedServerAreNotKnown() {
		RedisLeaseStore store = this.stores.get(0);
		store.release(acquire(store, request(this.one)), this.one);
		this.server.ask((commands) -> commands.del(Stores.recordKey(this.job), Stores.tokenKey(this.job)));
		LeaseGrant again = acquire(store, request(this.one));
		assertThat(again.followsUnreleased()).isFalse();
		assertThat(again.fireTime().completedBefore()).isNull();
	}

}
