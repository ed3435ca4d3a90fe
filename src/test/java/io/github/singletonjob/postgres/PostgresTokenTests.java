package io.github.singletonjob.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No token is given out twice, and none goes down, whatever happens to the table and the
 * server.
 */
class PostgresTokenTests {

	private static final int WINS = 2_400;

	private static final int STORES = 8;

	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(10), Duration.ofSeconds(1),
			Duration.ofSeconds(5));

	private String url = Databases.create();

	private final Instances instances = new Instances(() -> Databases.store(this.url), this.traits);

	private final JobId job = this.instances.job("billing");

	@AfterEach
	void closeStores() throws Exception {
		this.instances.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "delete from singleton_job_lease", "truncate singleton_job_lease" })
	void goUpAfterTheRowsAreGone(String loss) {
		LeaseStore store = this.instances.open();
		LeaseStore other = this.instances.open();
		LeaseGrant first = this.instances.acquire(store, this.job);
		Databases.execute(this.url, loss);
		assertThat(Instances.renew(store, first)).isEqualTo(Renewal.GONE);
		LeaseGrant second = this.instances.acquire(other, this.job);
		assertThat(second.token()).isGreaterThan(first.token());
		Databases.execute(this.url, loss);
		other.release(second);
		assertThat(this.instances.acquire(store, this.job).token()).isGreaterThan(second.token());
	}

	/**
	 * As a restored backup does, or a replica that is promoted without the last grants.
	 */
	@Test
	void goUpAfterTheRowsWentBackInTime() {
		LeaseStore store = this.instances.open();
		store.release(this.instances.acquire(store, this.job));
		Databases.execute(this.url, "create table backup as select * from singleton_job_lease");
		List<Long> tokens = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			LeaseGrant grant = this.instances.acquire(store, this.job);
			tokens.add(grant.token());
			store.release(grant);
		}
		Databases.execute(this.url,
				"update singleton_job_lease l set token = b.token from backup b where l.lock_key = b.lock_key");
		tokens.add(this.instances.acquire(store, this.job).token());
		assertThat(tokens).doesNotHaveDuplicates().isSorted();
	}

	@Test
	void goUpAfterTheServerCrashed() {
		try (PostgresServer server = crashing().start()) {
			this.url = server.jdbcUrl();
			new PostgresSchema(Databases.source(this.url)).initialize();
			LeaseStore store = this.instances.open();
			store.release(this.instances.acquire(store, this.job));
			Databases.execute(this.url, "checkpoint");
			List<Long> tokens = new ArrayList<>();
			for (int crash = 0; crash < 3; crash++) {
				LeaseGrant grant = Instances
					.awaitGrant(() -> store.tryAcquire(this.instances.request(this.job, "somebody")));
				tokens.add(grant.token());
				server.kill();
				server.start();
				assertThat(Instances.renew(store, grant)).isEqualTo(Renewal.GONE);
			}
			assertThat(tokens).as("wrong data: tokens").hasSize(3).doesNotHaveDuplicates().isSorted();
		}
	}

	/** Keeps in memory for long what it need not write. */
	private static PostgresServer crashing() {
		return PostgresServer.create().with("fsync", "off").with("wal_writer_delay", "10s");
	}

	@Test
	void goUpWhileManyCompete() throws Exception {
		List<Long> won = Collections.synchronizedList(new ArrayList<>());
		AtomicInteger inside = new AtomicInteger();
		ExecutorService threads = Executors.newFixedThreadPool(STORES);
		try {
			List<Future<?>> competitors = new ArrayList<>();
			for (int i = 0; i < STORES; i++) {
				LeaseStore store = this.instances.open();
				competitors.add(threads.submit(() -> compete(store, won, inside)));
			}
			for (Future<?> competitor : competitors) {
				competitor.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(won).as("wrong data: tokens").hasSizeGreaterThanOrEqualTo(WINS).doesNotHaveDuplicates().isSorted();
	}

	private void compete(LeaseStore store, List<Long> won, AtomicInteger inside) {
		while (won.size() < WINS) {
			if (store
				.tryAcquire(this.instances.request(this.job, "somebody")) instanceof Acquisition.Acquired acquired) {
				assertThat(inside.incrementAndGet()).isEqualTo(1);
				won.add(acquired.grant().token());
				inside.decrementAndGet();
				assertThat(store.release(acquired.grant())).isTrue();
			}
		}
	}

}
