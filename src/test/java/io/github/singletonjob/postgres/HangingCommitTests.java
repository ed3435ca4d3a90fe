package io.github.singletonjob.postgres;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.PostgresServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A commit waits for a synchronous standby that is away, and no time-out ends that.
 */
@Timeout(120)
class HangingCommitTests {

	private static PostgresServer server;

	private String url;

	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(3), Duration.ofSeconds(1),
			Duration.ofMillis(500));

	private final Instances instances = new Instances(() -> Databases.store(this.url), this.traits);

	private LeaseStore store;

	@BeforeAll
	static void startServer() {
		server = PostgresServer.create().with("fsync", "off").start();
	}

	@AfterAll
	static void stopServer() {
		server.close();
	}

	@BeforeEach
	void openStore() {
		this.url = server.newDatabase();
		new PostgresSchema(Databases.source(this.url)).initialize();
		this.store = this.instances.open();
	}

	@AfterEach
	void close() throws Exception {
		waitForStandby(false);
		this.instances.close();
	}

	private void waitForStandby(boolean wait) {
		Databases.execute(this.url, "alter system set synchronous_standby_names = '" + (wait ? "away" : "") + "'");
		Databases.ask(this.url, "select count(pg_reload_conf())");
		Awaitility.await()
			.until(() -> Databases.ask(this.url,
					"select count(*) from pg_settings where name = 'synchronous_standby_names'" + " and setting = '"
							+ (wait ? "away" : "") + "'") == 1);
	}

	@Test
	void doesNotHoldUpTheRenewalsOfOtherLeases() {
		LeaseGrant kept = this.instances.acquire(this.store, this.instances.job("kept"));
		waitForStandby(true);
		CompletableFuture<Void> attempt = CompletableFuture
			.runAsync(() -> assertNamesReplication(this.instances.job("stuck")));
		long start = System.nanoTime();
		Awaitility.await()
			.pollInSameThread()
			.pollInterval(Duration.ofMillis(100))
			.atMost(this.traits.ttl().multipliedBy(5))
			.until(() -> {
				assertThat(Instances.renew(this.store, kept)).isEqualTo(Renewal.EXTENDED);
				return attempt.isDone() && System.nanoTime() - start > this.traits.ttl().multipliedBy(2).toNanos();
			});
		attempt.join();
		// That of the attempt is given up on the server, although the standby is still
		// away
		assertThat(Databases.advisoryLocks(this.url)).isEqualTo(1);
	}

	@Test
	void isGivenUpOnTheServerAndNamesReplication() {
		this.store.release(this.instances.acquire(this.store, this.instances.job("opens the session")));
		waitForStandby(true);
		assertNamesReplication(this.instances.job("billing"));
		Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> Databases.advisoryLocks(this.url) == 0);
		waitForStandby(false);
		Instances.awaitGrant(() -> this.store.tryAcquire(this.instances.request(this.instances.job("billing"), "us")));
	}

	private void assertNamesReplication(JobId job) {
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> this.store.tryAcquire(this.instances.request(job, "us")))
			.withMessageContaining("replication (SyncRep)");
	}

	@Test
	void doesNotHoldUpAReleaseThatHasNothingToRecord() {
		LeaseGrant kept = this.instances.acquire(this.store, this.instances.job("kept"));
		LeaseGrant grant = this.instances.acquire(this.store, this.instances.job("billing"));
		waitForStandby(true);
		assertThat(this.store.release(grant)).isTrue();
		assertThat(Instances.renew(this.store, kept)).isEqualTo(Renewal.EXTENDED);
	}

}
