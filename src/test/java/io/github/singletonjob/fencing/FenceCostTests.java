package io.github.singletonjob.fencing;

import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a fenced transaction costs, of one row, against the same without a guard. The
 * bounds notice one more round trip and are loose otherwise, for machines that do other
 * things meanwhile; the figures are printed.
 */
@Timeout(180)
class FenceCostTests {

	private final AtomicLong ids = new AtomicLong();

	@Test
	void onOneMachine() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase()) {
			assertThat(ratio("on one machine", database.url(), 2000)).isLessThan(1.6);
		}
	}

	@Test
	void withAMillisecondOfNetworkEachWay() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase(); TcpProxy proxy = TcpProxy.to(port(database.url()))) {
			proxy.delay(Duration.ofMillis(1));
			assertThat(ratio("with 1 ms of network each way", proxy.through(database.url()), 300)).isLessThan(1.35);
		}
	}

	private static int port(String url) {
		return URI.create(url.substring("jdbc:".length())).getPort();
	}

	private double ratio(String where, String url, int count) throws SQLException {
		try (GuardedDatabase first = connect(url);
				GuardedDatabase second = connect(url);
				GuardedDatabase third = connect(url)) {
			FakeRun run = first.begin("billing", 33);
			long[] plain = new long[count];
			long[] outside = new long[count];
			long[] fenced = new long[count];
			// In turns, so that what disturbs one disturbs all; the first ones warm up
			for (int i = -count / 2; i < count; i++) {
				int slot = Math.max(i, 0);
				plain[slot] = transaction(first.pool());
				outside[slot] = transaction(second.guarded());
				try (var scope = CurrentJobRun.open(run)) {
					fenced[slot] = transaction(third.guarded());
				}
			}
			return report(where, median(plain), median(outside), median(fenced));
		}
	}

	private static GuardedDatabase connect(String url) {
		return new GuardedDatabase(url, (config) -> config.setPoolName("cost"), FencingSettings.defaults());
	}

	private static double report(String where, long plain, long outside, long fenced) {
		System.out.printf(
				"Transaction of one row %s, median: %d µs, guarded but outside of a run %d µs (%.3f),"
						+ " fenced %d µs (%.3f)%n",
				where, plain / 1000, outside / 1000, (double) outside / plain, fenced / 1000, (double) fenced / plain);
		return (double) fenced / plain;
	}

	private long transaction(DataSource dataSource) throws SQLException {
		long start = System.nanoTime();
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			GuardedDatabase.insert(connection, this.ids.incrementAndGet());
			connection.commit();
			connection.setAutoCommit(true);
		}
		return System.nanoTime() - start;
	}

	private static long median(long[] times) {
		Arrays.sort(times);
		return times[times.length / 2];
	}

}
