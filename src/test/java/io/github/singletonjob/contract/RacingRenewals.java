package io.github.singletonjob.contract;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many short runs, whose leases are renewed all the time, also when they have just been
 * given back: each of four workers takes and gives back a job of its own, and another
 * thread renews the last leases of all of them. Every second run waits for one of its
 * renewals.
 */
public final class RacingRenewals {

	private static final int WORKERS = 4;

	/** So that waiting threads leave the processor to the others, in nanoseconds. */
	private static final long PAUSE = 20_000;

	private static final Duration LONGEST = Duration.ofMinutes(20);

	private final AtomicReferenceArray<LeaseGrant> last = new AtomicReferenceArray<>(WORKERS);

	private final Map<Renewal, Integer> answers = new EnumMap<>(Renewal.class);

	private final AtomicInteger calls = new AtomicInteger();

	private final LeaseStore store;

	private final IntFunction<LeaseRequest> requests;

	private RacingRenewals(LeaseStore store, IntFunction<LeaseRequest> requests) {
		this.store = store;
		this.requests = requests;
	}

	/**
	 * Takes and gives back as often as it is told, or as the system property
	 * {@code tests.rounds} says.
	 * @param store the store, of which nothing is closed
	 * @param requests makes a new request for the job of a worker, whose number it gets
	 * @param usual how often in total, if the property is not set
	 * @return how often it was
	 */
	public static int race(LeaseStore store, IntFunction<LeaseRequest> requests, int usual) {
		int rounds = Integer.getInteger("tests.rounds", usual) / WORKERS * WORKERS;
		long start = System.nanoTime();
		Map<Renewal, Integer> answers = new RacingRenewals(store, requests).run(rounds);
		System.out.printf("%s: %,d rounds with racing renewals (%s) in %d ms%n", store.getClass().getSimpleName(),
				rounds, answers, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
		return rounds;
	}

	private Map<Renewal, Integer> run(int rounds) {
		CompletableFuture<?>[] workers = IntStream.range(0, WORKERS)
			.mapToObj(
					(worker) -> CompletableFuture.runAsync(() -> work(worker, rounds / WORKERS), RacingRenewals::start))
			.toArray(CompletableFuture[]::new);
		CompletableFuture<Void> all = CompletableFuture.allOf(workers).orTimeout(LONGEST.toMinutes(), TimeUnit.MINUTES);
		CompletableFuture<Void> renewals = CompletableFuture.runAsync(() -> renewUntil(all), RacingRenewals::start);
		all.join();
		renewals.orTimeout(1, TimeUnit.MINUTES).join();
		assertThat(this.store.renew(grants())).as("renewals of what was given back").containsOnly(Renewal.GONE);
		assertThat(this.answers).as("the races").containsKeys(Renewal.EXTENDED, Renewal.GONE);
		return this.answers;
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "racing");
		thread.setDaemon(true);
		thread.start();
	}

	private void work(int worker, int rounds) {
		long token = 0;
		for (int round = 0; round < rounds; round++) {
			Acquisition answer = this.store.tryAcquire(this.requests.apply(worker));
			assertThat(answer).as("round %d", round).isInstanceOf(Acquisition.Acquired.class);
			LeaseGrant grant = ((Acquisition.Acquired) answer).grant();
			assertThat(grant.token()).isGreaterThan(token);
			token = grant.token();
			this.last.set(worker, grant);
			if (round % 2 == 1) {
				awaitRenewals();
			}
			assertThat(this.store.release(grant)).as("release of round %d", round).isTrue();
		}
	}

	private void awaitRenewals() {
		int seen = this.calls.get();
		long start = System.nanoTime();
		while (this.calls.get() == seen) {
			assertThat(System.nanoTime() - start).as("nanoseconds without a renewal")
				.isLessThan(Duration.ofMinutes(1).toNanos());
			LockSupport.parkNanos(PAUSE);
		}
	}

	private void renewUntil(CompletableFuture<Void> end) {
		while (!end.isDone()) {
			List<LeaseGrant> grants = grants();
			List<Renewal> renewals = grants.isEmpty() ? List.of() : this.store.renew(grants);
			renewals.forEach((answer) -> this.answers.merge(answer, 1, Integer::sum));
			this.calls.incrementAndGet();
			if (!renewals.contains(Renewal.EXTENDED)) {
				LockSupport.parkNanos(PAUSE);
			}
		}
	}

	private List<LeaseGrant> grants() {
		return IntStream.range(0, WORKERS).mapToObj(this.last::get).filter(Objects::nonNull).toList();
	}

}
