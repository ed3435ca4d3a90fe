package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.etcd.jetcd.Client;
import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.EtcdApi;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Those who stand by make a queue, and the end of a lease wakes its head.
 */
@Timeout(120)
class QueueTests {

	private static final Duration TTL = Duration.ofSeconds(3);

	private final List<AutoCloseable> opened = new ArrayList<>();

	private EtcdApi etcd;

	private Instances instances;

	private JobId job;

	@BeforeAll
	static void requireEtcd() {
		EtcdServer.assumeAvailable();
	}

	@BeforeEach
	void openInstances() {
		this.etcd = EtcdServer.shared().api();
		this.instances = new Instances(() -> Etcds.store(EtcdServer.shared()),
				new StoreTraits(TTL, TTL, Duration.ofSeconds(5), false));
		this.job = this.instances.job("billing");
	}

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
		this.instances.close();
	}

	private static void await(Callable<Boolean> condition) {
		Awaitility.await()
			.pollInSameThread()
			.pollInterval(Duration.ofMillis(50))
			.atMost(Duration.ofSeconds(40))
			.until(condition);
	}

	/** Renews meanwhile. */
	private static void awaitHolding(LeaseStore holder, LeaseGrant grant, Callable<Boolean> condition) {
		await(() -> {
			assertThat(Instances.renew(holder, grant)).isEqualTo(Renewal.EXTENDED);
			return condition.call();
		});
	}

	private String queue() {
		return new KeyNames(Etcds.PREFIX).keys(this.job).queue();
	}

	@Test
	void theDeathOfAHolderWakesOneOfFifty() {
		LeaseStore holder = this.instances.open();
		LeaseGrant grant = this.instances.acquire(holder, Etcds.request(this.job, TTL, Duration.ofSeconds(5)));
		CountedEvents events = new CountedEvents();
		AtomicInteger woken = new AtomicInteger();
		List<LeaseGrant> taken = new CopyOnWriteArrayList<>();
		CompletableFuture<Void> standing = CompletableFuture.runAsync(() -> {
			for (int i = 0; i < 10; i++) {
				EtcdLeaseStore store = countedStore(events);
				for (int j = 0; j < 5; j++) {
					standBy(store, woken, taken);
				}
			}
		});
		awaitHolding(holder, grant, () -> standing.isDone() && this.etcd.keys(queue()).size() == 50);
		standing.join();
		assertThat(woken).hasValue(0);
		int before = events.count();
		// From here on the holder is silent
		await(() -> !taken.isEmpty());
		await(() -> this.etcd.keys(queue()).size() == 49);
		Awaitility.await().during(Duration.ofSeconds(2)).until(() -> woken.get() == 1 && taken.size() == 1);
		System.out.println("Watch events delivered to 50 stand-bys: " + (events.count() - before));
		assertThat(events.count() - before).as("the end of the lease, and of the first place in the queue")
			.isEqualTo(2);
	}

	private EtcdLeaseStore countedStore(CountedEvents events) {
		Client client = Client.builder().endpoints(EtcdServer.shared().endpoint()).interceptor(events).build();
		EtcdLeaseStore store = new EtcdLeaseStore(EtcdConnection.of(client), Etcds.PREFIX);
		this.opened.add(store);
		this.opened.add(client);
		return store;
	}

	/** As the runtime does: it leaves the queue first, and takes the job then. */
	private void standBy(EtcdLeaseStore store, AtomicInteger woken, List<LeaseGrant> taken) {
		AtomicReference<LeaseWatch> watch = new AtomicReference<>();
		watch.set(store.watch(this.job, TTL, () -> {
			woken.incrementAndGet();
			CompletableFuture<Void> unused = CompletableFuture.runAsync(() -> {
				watch.get().close();
				Acquisition answer = store.tryAcquire(Etcds.request(this.job, TTL.multipliedBy(10), TTL));
				if (answer instanceof Acquisition.Acquired acquired) {
					taken.add(acquired.grant());
				}
			});
		}));
	}

	@Test
	void whoStandsByLongerThanATimeToLiveIsStillWoken() {
		LeaseStore holder = this.instances.open();
		LeaseGrant grant = this.instances.acquire(holder, this.job);
		AtomicInteger woken = new AtomicInteger();
		long start = System.nanoTime();
		try (LeaseWatch watch = this.instances.open().watch(this.job, TTL, woken::incrementAndGet)) {
			List<String> place = this.etcd.keys(queue());
			awaitHolding(holder, grant, () -> System.nanoTime() - start > TTL.multipliedBy(2).toNanos());
			assertThat(this.etcd.keys(queue())).isEqualTo(place).hasSize(1);
			holder.release(grant);
			await(() -> woken.get() > 0);
		}
	}

	@Test
	void whoLeavesTheQueueLeavesNothing() {
		EtcdLeaseStore store = (EtcdLeaseStore) this.instances.open();
		LeaseGrant grant = this.instances.acquire(store, this.job);
		LeaseWatch first = store.watch(this.job, TTL, () -> {
		});
		LeaseWatch second = store.watch(this.job, TTL, () -> {
		});
		List<Long> leases = this.etcd.leasesOfKeys(queue()).stream().distinct().toList();
		assertThat(this.etcd.keys(queue())).hasSize(2);
		assertThat(leases).hasSize(1).doesNotContain(store.held(grant).lease().id());
		first.close();
		awaitHolding(store, grant, () -> this.etcd.keys(queue()).size() == 1);
		second.close();
		awaitHolding(store, grant,
				() -> this.etcd.keys(queue()).isEmpty() && !this.etcd.leases().contains(leases.get(0)));
	}

	@Test
	void aClosedStoreStandsByNoMore() {
		EtcdLeaseStore store = Etcds.store(EtcdServer.shared());
		store.watch(this.job, TTL, () -> {
		});
		List<Long> leases = this.etcd.leasesOfKeys(queue());
		assertThat(leases).hasSize(1);
		store.close();
		assertThat(this.etcd.keys(queue())).isEmpty();
		assertThat(this.etcd.leases()).doesNotContainAnyElementsOf(leases);
	}

	/** As if its instance had been frozen for a time to live. */
	@Test
	void whoLostItsPlaceTakesAnotherOne() {
		LeaseStore holder = this.instances.open();
		LeaseGrant grant = this.instances.acquire(holder, this.job);
		AtomicInteger woken = new AtomicInteger();
		try (LeaseWatch watch = this.instances.open().watch(this.job, TTL, woken::incrementAndGet)) {
			List<String> place = this.etcd.keys(queue());
			this.etcd.revoke(this.etcd.leasesOfKeys(queue()).get(0));
			awaitHolding(holder, grant, () -> this.etcd.keys(queue()).size() == 1);
			assertThat(this.etcd.keys(queue())).isNotEqualTo(place);
			assertThat(woken).hasValue(0);
			holder.release(grant);
			await(() -> woken.get() > 0);
		}
	}

	@Test
	void theNextIsWokenIfTheHeadIsGone() throws Exception {
		LeaseStore holder = this.instances.open();
		LeaseGrant grant = this.instances.acquire(holder, this.job);
		AtomicInteger head = new AtomicInteger();
		AtomicInteger next = new AtomicInteger();
		EtcdLeaseStore first = Etcds.store(EtcdServer.shared());
		first.watch(this.job, TTL, head::incrementAndGet);
		try (LeaseWatch watch = this.instances.open().watch(this.job, TTL, next::incrementAndGet)) {
			first.close();
			awaitHolding(holder, grant, () -> this.etcd.keys(queue()).size() == 1);
			holder.release(grant);
			await(() -> next.get() > 0);
			assertThat(head).hasValue(0);
		}
	}

	@Test
	void aLostConnectionDoesNotEndIt() {
		LeaseStore holder = this.instances.open();
		LeaseGrant grant = this.instances.acquire(holder, this.job);
		AtomicInteger woken = new AtomicInteger();
		try (TcpProxy proxy = TcpProxy.to(EtcdServer.shared().port());
				EtcdLeaseStore far = Etcds.store(proxy);
				LeaseWatch watch = far.watch(this.job, TTL, woken::incrementAndGet)) {
			long start = System.nanoTime();
			proxy.refuse();
			proxy.reset();
			awaitHolding(holder, grant, () -> System.nanoTime() - start > TTL.dividedBy(2).toNanos());
			proxy.pass();
			holder.release(grant);
			await(() -> woken.get() > 0);
		}
	}

	@Test
	void withoutAnAnswerItGoesOnInTheBackground() {
		LeaseStore holder = this.instances.open();
		LeaseGrant grant = this.instances.acquire(holder, this.job);
		AtomicInteger woken = new AtomicInteger();
		try (TcpProxy proxy = TcpProxy.to(EtcdServer.shared().port()); EtcdLeaseStore far = Etcds.store(proxy)) {
			proxy.hang();
			long start = System.nanoTime();
			LeaseWatch watch = far.watch(this.job, TTL, woken::incrementAndGet);
			assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(3));
			proxy.pass();
			awaitHolding(holder, grant, () -> this.etcd.keys(queue()).size() == 1);
			holder.release(grant);
			await(() -> woken.get() > 0);
			watch.close();
		}
	}

}
