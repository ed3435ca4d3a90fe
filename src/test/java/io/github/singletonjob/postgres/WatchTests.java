package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Whoever stands by is woken, whatever has freed the lease.
 */
class WatchTests {

	private static final int WATCHES = 50;

	private final String url = Databases.create();

	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(10), Duration.ofSeconds(1),
			Duration.ofSeconds(3));

	private final Instances instances = new Instances(() -> Databases.store(this.url), this.traits);

	private final JobId job = this.instances.job("billing");

	private final BlockingQueue<Long> woken = new ArrayBlockingQueue<>(1_000);

	private LeaseStore holder;

	private LeaseStore standBy;

	private LeaseGrant grant;

	@BeforeEach
	void openStores() {
		this.holder = this.instances.open();
		this.standBy = this.instances.open();
		this.grant = this.instances.acquire(this.holder, this.job);
	}

	@AfterEach
	void closeStores() throws Exception {
		this.instances.close();
	}

	private LeaseWatch watch(LeaseStore store) {
		return store.watch(this.job, this.traits.ttl(), () -> this.woken.add(System.nanoTime()));
	}

	/** How long after now somebody was woken. */
	private Duration wokenWithin(long since, Duration patience) throws InterruptedException {
		Long moment = this.woken.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
		assertThat(moment).as("woken within " + patience).isNotNull();
		return Duration.ofNanos(moment - since);
	}

	private long watching() {
		return Databases.ask(this.url, """
				select count(*) from pg_stat_activity where application_name = 'singleton-job test watch'
				and datname = current_database()""");
	}

	private void awaitWatching() {
		// What it sends is bounded by what it has looked at before
		await().until(() -> Databases.ask(this.url, """
				select count(*) from pg_stat_activity where application_name = 'singleton-job test watch'
				and datname = current_database() and query like '%pg_locks%' and state = 'idle'""") >= 1);
	}

	/** So it is its message that wakes: whoever looks at the lock sees it held. */
	@Test
	void aReleaseWakesAlsoIfAnotherTakesTheLockInTheSameInstant() throws Exception {
		try (LeaseWatch watch = watch(this.standBy); Connection another = PostgresServer.connect(this.url)) {
			awaitWatching();
			CompletableFuture<Void> taken = CompletableFuture.runAsync(() -> lock(another));
			await().until(() -> Databases.ask(this.url, """
					select count(*) from pg_locks where locktype = 'advisory' and not granted
					and database = (select oid from pg_database where datname = current_database())""") == 1);
			assertThat(this.woken).isEmpty();
			this.holder.release(this.grant, null);
			wokenWithin(System.nanoTime(), Duration.ofSeconds(5));
			taken.get(5, TimeUnit.SECONDS);
		}
	}

	private void lock(Connection connection) {
		try (PreparedStatement statement = connection.prepareStatement("select pg_advisory_lock(?)")) {
			statement.setLong(1, LockKey.of(this.job));
			statement.execute();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void theDeathOfTheHoldersSessionWakesWithinASecond() throws Exception {
		try (LeaseWatch watch = watch(this.standBy)) {
			awaitWatching();
			endHolder();
			long start = System.nanoTime();
			assertThat(wokenWithin(start, Duration.ofSeconds(5))).isLessThan(Duration.ofSeconds(1));
		}
	}

	private void endHolder() {
		Databases.execute(this.url, """
				select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
				and database = (select oid from pg_database where datname = current_database())""");
	}

	@Test
	void aLeaseThatIsHeldWakesNobody() throws Exception {
		try (LeaseWatch watch = watch(this.standBy)) {
			awaitWatching();
			assertThat(this.woken.poll(1500, TimeUnit.MILLISECONDS)).isNull();
		}
	}

	@Test
	void aLeaseThatIsFreeAlreadyWakes() throws Exception {
		this.holder.release(this.grant, null);
		try (LeaseWatch watch = watch(this.standBy)) {
			long start = System.nanoTime();
			assertThat(wokenWithin(start, Duration.ofSeconds(5))).isLessThan(Duration.ofSeconds(2));
		}
	}

	@Test
	void manyWatchesShareOneConnectionAndOneThread() {
		List<LeaseWatch> watches = new ArrayList<>();
		for (int i = 0; i < WATCHES; i++) {
			watches.add(this.standBy.watch(this.instances.job("job " + i), this.traits.ttl(), () -> {
			}));
		}
		awaitWatching();
		assertThat(watching()).isEqualTo(1);
		assertThat(threads()).isEqualTo(1);
		watches.forEach(LeaseWatch::close);
	}

	@Test
	void nobodyWatchingMeansNoConnectionAndNoThread() {
		assertThat(watching()).isZero();
		LeaseWatch watch = watch(this.standBy);
		awaitWatching();
		watch.close();
		await().untilAsserted(() -> assertThat(watching()).isZero());
		await().untilAsserted(() -> assertThat(threads()).isZero());
		try (LeaseWatch again = watch(this.standBy)) {
			awaitWatching();
		}
	}

	@Test
	void theEndOfTheStoreEndsItsWatching() throws Exception {
		watch(this.standBy);
		awaitWatching();
		((AutoCloseable) this.standBy).close();
		assertThat(threads()).isZero();
		await().untilAsserted(() -> assertThat(watching()).isZero());
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> watch(this.standBy));
	}

	private static long threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("singleton-job-postgres-watch"))
			.count();
	}

	@Test
	void aLostConnectionIsReplaced() throws Exception {
		try (LeaseWatch watch = watch(this.standBy)) {
			awaitWatching();
			Databases.execute(this.url, """
					select pg_terminate_backend(pid) from pg_stat_activity
					where application_name = 'singleton-job test watch' and datname = current_database()""");
			awaitWatching();
			this.holder.release(this.grant, null);
			wokenWithin(System.nanoTime(), Duration.ofSeconds(5));
		}
	}

	@Test
	void aServerThatFallsSilentIsLeftAndFoundAgain() throws Exception {
		AtomicInteger openings = new AtomicInteger();
		try (TcpProxy proxy = TcpProxy.to(Databases.server().port())) {
			SessionSource through = Databases.source(proxy.through(this.url));
			PostgresLeaseStore cut = new PostgresLeaseStore(() -> {
				openings.incrementAndGet();
				return through.open();
			}, "singleton-job test");
			watch(cut);
			awaitWatching();
			proxy.hang();
			await().atMost(Duration.ofSeconds(15)).until(() -> openings.get() > 1);
			proxy.pass();
			this.holder.release(this.grant, null);
			wokenWithin(System.nanoTime(), Duration.ofSeconds(30));
			cut.close();
		}
	}

	@Test
	void aServerThatIsAwayIsAskedLessAndLess() throws Exception {
		AtomicInteger openings = new AtomicInteger();
		SessionSource source = () -> {
			openings.incrementAndGet();
			throw new SQLException("refused", "08001");
		};
		try (PostgresLeaseStore away = new PostgresLeaseStore(source, "singleton-job test");
				LeaseWatch watch = watch(away)) {
			await().until(() -> openings.get() >= 3);
			int before = openings.get();
			assertThat(this.woken.poll(3, TimeUnit.SECONDS)).isNull();
			assertThat(openings.get() - before).isLessThanOrEqualTo(3);
		}
		await().untilAsserted(() -> assertThat(threads()).isZero());
	}

	@Test
	void whoeverCannotListenLooks() throws Exception {
		SessionSource deaf = () -> DeafConnection.of(Databases.source(this.url).open());
		try (PostgresLeaseStore store = new PostgresLeaseStore(deaf, "singleton-job test");
				LeaseWatch watch = watch(store)) {
			awaitWatching();
			this.holder.release(this.grant, null);
			long start = System.nanoTime();
			assertThat(wokenWithin(start, Duration.ofSeconds(5))).isLessThan(Duration.ofSeconds(1));
		}
	}

	@Test
	void aStandByThatFailsHarmsNoOther() throws Exception {
		LeaseWatch failing = this.standBy.watch(this.job, this.traits.ttl(), () -> {
			throw new IllegalStateException("told so");
		});
		try (LeaseWatch watch = watch(this.standBy)) {
			awaitWatching();
			this.holder.release(this.grant, null);
			wokenWithin(System.nanoTime(), Duration.ofSeconds(5));
		}
		failing.close();
	}

}
