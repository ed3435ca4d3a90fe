package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

import javax.sql.DataSource;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a fenced transaction costs, of one row, against the same without a guard. The
 * figures are printed. The bounds leave room for a machine that does other things
 * meanwhile, and still notice one more round trip. A JVM whose compiler was held back, as
 * those of the other tests, says nothing about a server.
 */
@Timeout(180)
class FenceCostTests {

	private static final int BLOCK = 20;

	private static final int WARM_UP = Integer.getInteger("tests.rounds", 2_000);

	private static final int FEWEST = 15 * BLOCK;

	private static final Duration LONGEST = Duration.ofSeconds(3);

	/** Waits for the disk, as a database of users does. */
	private final PostgresServer durable = PostgresServer.create().start();

	private final AtomicLong ids = new AtomicLong();

	@AfterEach
	void stop() {
		this.durable.close();
	}

	@Test
	void onOneMachine() throws SQLException {
		String url = this.durable.newDatabase();
		warmUp(url);
		assertThat(ratio("on one machine", url, 8, 50 * BLOCK)).isLessThan(1.3);
	}

	@Test
	void withAMillisecondOfNetworkEachWay() throws SQLException {
		String url = this.durable.newDatabase();
		try (TcpProxy proxy = TcpProxy.to(this.durable.port())) {
			proxy.delay(Duration.ofMillis(1));
			assertThat(ratio("with 1 ms of network each way", proxy.through(url), 1, FEWEST)).isLessThan(1.15);
		}
	}

	// For the JVM alone, as a server that has been up for a while: without waiting for
	// the disk
	private void warmUp(String url) throws SQLException {
		try (Candidates candidates = new Candidates(url + "?options=-c%20synchronous_commit=off")) {
			measure(candidates, WARM_UP);
		}
	}

	// Each way has several sessions, one after the other: one can be faster than the next
	// for all of its life, by as much as the guard costs
	private double ratio(String where, String url, int sessions, int count) throws SQLException {
		List<String> names = List.of();
		long[][] times = new long[0][];
		for (int session = 0; session < sessions; session++) {
			try (Candidates candidates = new Candidates(url)) {
				// For the server, which prepares statements once it has seen them often
				measure(candidates, 10 * BLOCK);
				times = join(times, measure(candidates, count));
				names = candidates.list.stream().map(Candidate::name).toList();
			}
		}
		for (int i = 0; i < times.length; i++) {
			Arrays.sort(times[i]);
			System.out.printf("Transaction of one row %s, median: %d µs (%.3f) %s%n", where,
					percentile(times[i], 50) / 1000, ratio(times[i], times[0], 50), names.get(i));
		}
		// The fastest ones are those that nothing else has disturbed
		return ratio(times[times.length - 1], times[0], 10);
	}

	private static long[][] join(long[][] some, long[][] more) {
		long[][] all = new long[more.length][];
		for (int i = 0; i < all.length; i++) {
			LongStream before = (some.length > 0) ? LongStream.of(some[i]) : LongStream.empty();
			all[i] = LongStream.concat(before, LongStream.of(more[i])).toArray();
		}
		return all;
	}

	private static double ratio(long[] times, long[] plain, int percent) {
		return (double) percentile(times, percent) / percentile(plain, percent);
	}

	private static long percentile(long[] sorted, int percent) {
		return sorted[sorted.length * percent / 100];
	}

	// In blocks and in turns, so that what disturbs one disturbs all; a slow machine does
	// fewer
	private long[][] measure(Candidates candidates, int count) throws SQLException {
		int size = candidates.list.size();
		long[][] times = new long[size][count];
		long start = System.nanoTime();
		int done = 0;
		while (done < count && (done < FEWEST || System.nanoTime() - start < LONGEST.toNanos())) {
			for (int i = 0; i < size; i++) {
				int turn = (done / BLOCK + i) % size;
				candidates.list.get(turn).measure(times[turn], done, done + BLOCK);
			}
			done += BLOCK;
		}
		for (int i = 0; i < size; i++) {
			times[i] = Arrays.copyOf(times[i], done);
		}
		return times;
	}

	private void insertOneRow(DataSource dataSource, Ending ending) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			GuardedDatabase.insert(connection, this.ids.incrementAndGet());
			ending.end(connection);
			connection.setAutoCommit(true);
		}
	}

	@FunctionalInterface
	private interface Ending {

		void end(Connection connection) throws SQLException;

	}

	@FunctionalInterface
	private interface Transaction {

		void execute() throws SQLException;

	}

	/**
	 * A way to execute the transaction, in a run or in none.
	 */
	private record Candidate(String name, FakeRun run, Transaction transaction) {

		void measure(long[] times, int begin, int end) throws SQLException {
			try (var scope = (this.run != null) ? CurrentJobRun.open(this.run) : CurrentJobRun.suspend()) {
				measureEach(times, begin, end);
			}
		}

		private void measureEach(long[] times, int begin, int end) throws SQLException {
			for (int i = begin; i < end; i++) {
				long start = System.nanoTime();
				this.transaction.execute();
				times[i] = System.nanoTime() - start;
			}
		}

	}

	/**
	 * All ways, each with a session of its own; the first is what the others are compared
	 * with, the last is what it is about.
	 */
	private final class Candidates implements AutoCloseable {

		private final List<GuardedDatabase> databases = new ArrayList<>();

		private final List<Candidate> list = new ArrayList<>();

		Candidates(String url) {
			FakeRun run = connect(url).begin("billing", 33);
			FenceCheck check = new FenceCheck(new FenceTable());
			DataSource plain = connect(url).pool();
			DataSource bare = connect(url).pool();
			DataSource outside = connect(url).guarded();
			DataSource fenced = connect(url).guarded();
			add("unfenced", () -> insertOneRow(plain, Connection::commit));
			add("with the same statements sent by hand", () -> insertOneRow(bare, (connection) -> {
				check.commit(connection, List.of(run.grant()));
				connection.commit();
			}));
			add("guarded, outside of a run", () -> insertOneRow(outside, Connection::commit));
			this.list.add(new Candidate("fenced", run, () -> insertOneRow(fenced, Connection::commit)));
		}

		private GuardedDatabase connect(String url) {
			GuardedDatabase database = new GuardedDatabase(url, (config) -> config.setPoolName("cost"),
					FencingSettings.defaults());
			this.databases.add(database);
			return database;
		}

		private void add(String name, Transaction transaction) {
			this.list.add(new Candidate(name, null, transaction));
		}

		@Override
		public void close() {
			this.databases.forEach(GuardedDatabase::close);
		}

	}

}
