package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.EtcdServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tokens go up, also if etcd goes back.
 */
@Timeout(60)
class EtcdTokenTests {

	private final EtcdServer server = EtcdServer.create();

	private final Instances instances = new Instances(() -> Etcds.store(this.server),
			new StoreTraits(Duration.ofSeconds(10), Duration.ofSeconds(10), Duration.ofSeconds(2)));

	private final JobId job = this.instances.job("billing");

	@BeforeAll
	static void requireEtcd() {
		EtcdServer.assumeAvailable();
	}

	@AfterEach
	void close() throws Exception {
		this.instances.close();
		this.server.close();
	}

	@Test
	void aRestoredEtcdGivesTokensAboveWhatTheDatabaseHasSeen() {
		this.server.start();
		LeaseStore store = this.instances.open();
		store.release(this.instances.acquire(store, this.job));
		this.server.save();
		LeaseGrant last = null;
		for (int i = 0; i < 10; i++) {
			last = Instances.awaitGrant(() -> store.tryAcquire(this.instances.request(this.job, "before")));
			assertThat(Etcds.awaitRelease(store, last)).isTrue();
		}
		this.server.restore();
		LeaseGrant low = Instances.awaitGrant(() -> store.tryAcquire(this.instances.request(this.job, "after")));
		assertThat(low.token()).as("what a restored etcd gives by itself").isLessThan(last.token());
		assertThat(store.release(low)).isTrue();
		LeaseGrant raised = this.instances.acquire(store, this.instances.request(this.job, "after", last.token()));
		assertThat(raised.token()).isGreaterThan(last.token());
		assertThat(store.release(raised)).isTrue();
		// From now on for everybody, asking for it or not
		LeaseStore other = this.instances.open();
		assertThat(this.instances.acquire(other, this.job).token()).isGreaterThan(raised.token());
		assertThat(this.server.api().keys("singleton-job/")).hasSize(3);
	}

	@Test
	void aHolderOfBeforeTheRestoreHasNothing() {
		this.server.start();
		LeaseStore store = this.instances.open();
		LeaseStore other = this.instances.open();
		LeaseGrant kept = this.instances.acquire(store, this.instances.job("kept"));
		this.server.save();
		LeaseGrant before = Instances.awaitGrant(() -> store.tryAcquire(this.instances.request(this.job, "before")));
		this.server.restore();
		LeaseGrant after = Instances.awaitGrant(() -> other.tryAcquire(this.instances.request(this.job, "after")));
		assertThat(after.token()).as("the same revision").isEqualTo(before.token());
		// The lease of etcd is older than the backup, so it goes on with what was in that
		assertThat(Etcds.awaitRenewal(store, kept)).isEqualTo(Renewal.EXTENDED);
		assertThat(Etcds.awaitRenewal(store, before)).isEqualTo(Renewal.GONE);
		assertThat(Etcds.awaitRelease(store, before)).isFalse();
		assertThat(Etcds.awaitRenewal(other, after)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void anEmptyEtcdGivesTokensAboveThoseOfAnotherStore() {
		this.server.start();
		long floor = System.currentTimeMillis();
		LeaseStore store = this.instances.open();
		LeaseGrant first = this.instances.acquire(store, this.instances.request(this.job, "first", floor));
		assertThat(first.token()).isEqualTo(floor + 2);
		store.release(first);
		this.server.wipe();
		LeaseGrant second = Instances
			.awaitGrant(() -> store.tryAcquire(this.instances.request(this.job, "second", first.token())));
		assertThat(second.token()).isGreaterThan(first.token());
	}

	@Test
	void theOffsetIsRaisedOnceByMany() {
		this.server.start();
		List<CompletableFuture<LeaseGrant>> rounds = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			LeaseStore store = this.instances.open();
			String holder = "instance " + i;
			rounds.add(CompletableFuture.supplyAsync(() -> takeTurn(store, holder)));
		}
		List<Long> tokens = rounds.stream().map((round) -> round.join().token()).sorted().toList();
		assertThat(tokens).as("wrong data: tokens").doesNotHaveDuplicates().allMatch((token) -> token > 1_000_000);
		assertThat(this.server.api().keys("singleton-job/")).hasSize(2);
	}

	@Test
	void anOffsetThatSomebodyElseHasRaisedIsNotLowered() throws Exception {
		this.server.start();
		EtcdLeaseStore store = (EtcdLeaseStore) this.instances.open();
		HeldLease grant = store.held(this.instances.acquire(store, this.instances.request(this.job, "somebody", 0)));
		KeyValue key = Etcds.get(this.server, grant.key());
		TakeAnswer seen = new TakeAnswer(key, 0, 0, 1);
		Plan plan = new Plan(new KnownJob(null, null, 0, JobRecord.NONE), JobRecord.NONE.held(), null);
		this.server.api().put(grant.attempt().offsetKey(), "1000000");
		try (Client client = Client.builder().endpoints(this.server.endpoint()).build()) {
			assertThat(KeyTxns.raise(client.getKVClient(), grant.attempt(), plan, seen)
				.get(10, TimeUnit.SECONDS)
				.isSucceeded()).isFalse();
		}
	}

	private LeaseGrant takeTurn(LeaseStore store, String holder) {
		LeaseGrant grant = Instances.awaitGrant(() -> {
			Acquisition answer = store.tryAcquire(this.instances.request(this.job, holder, 1_000_000));
			return answer;
		});
		assertThat(store.release(grant)).isTrue();
		return grant;
	}

	@Test
	void anOffsetThatIsNoNumberIsReported() {
		this.server.start();
		LeaseStore store = this.instances.open();
		String offset = new KeyNames(Etcds.PREFIX).offset(this.job);
		this.server.api().put(offset, "much");
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> this.instances.acquire(store, this.job))
			.withMessageContaining(offset);
		this.server.api().delete(offset);
		Instances.awaitGrant(() -> store.tryAcquire(this.instances.request(this.job, "again")));
	}

}
