package io.github.singletonjob.chaos;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.servers.PostgresServer;

/**
 * What a server does outside of every fence: requests to the card network, which
 * remembers idempotency keys, and notes of what it saw and when. Written by a thread of
 * its own to a database that no fault hits; what a killed server has not written yet is
 * lost. Also notes when this JVM stood still.
 */
final class EventLog implements AutoCloseable {

	private static final String[] TABLES = {
			"create table event (id bigserial primary key, at bigint not null, server text not null,"
					+ " job text not null, kind text not null, token bigint not null, detail text not null)",
			"create table card (key text primary key, period int not null, customer int not null,"
					+ " requests int not null default 1)" };

	private static final String NOTE = "insert into event (at, server, job, kind, token, detail)"
			+ " values (?, ?, ?, ?, ?, ?)";

	private static final String CARD = "insert into card (key, period, customer) values (?, ?, ?)"
			+ " on conflict (key) do update set requests = card.requests + 1";

	private static final Duration TICK = Duration.ofMillis(50);

	private static final Duration PAUSE = Duration.ofMillis(250);

	private static final Duration CLOSING = Duration.ofSeconds(2);

	private final BlockingQueue<Entry> entries = new LinkedBlockingQueue<>();

	private final String url;

	private final String server;

	private final Thread writer = new Thread(this::write, "event-log");

	private volatile boolean closing;

	EventLog(String url, String server) {
		this.url = url;
		this.server = server;
		this.writer.setDaemon(true);
		this.writer.start();
		Thread meter = new Thread(this::measurePauses, "pause-meter");
		meter.setDaemon(true);
		meter.start();
	}

	static void createTables(String url) {
		try (Connection connection = PostgresServer.connect(url); Statement statement = connection.createStatement()) {
			for (String table : TABLES) {
				statement.execute(table);
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	String server() {
		return this.server;
	}

	void note(String job, String kind, long token, String detail) {
		note(System.currentTimeMillis(), job, kind, token, detail);
	}

	private void note(long at, String job, String kind, long token, String detail) {
		this.entries.add(new Entry(NOTE, List.of(at, this.server, job, kind, token, detail)));
	}

	/** Notes that a transaction was refused as stale, or failed for another reason. */
	void noteFailure(String job, long token, Throwable failure) {
		note(job, isStale(failure) ? "REFUSED" : "FAILED", token, describe(failure));
	}

	private static boolean isStale(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof StaleTokenException || cause instanceof LeaseLostException) {
				return true;
			}
		}
		return false;
	}

	private static String describe(Throwable failure) {
		Throwable cause = failure;
		while (cause.getCause() != null) {
			cause = cause.getCause();
		}
		String state = (cause instanceof SQLException sql) ? sql.getSQLState() + " " : "";
		return state + cause;
	}

	/** Asks the card network for a charge; it makes one for each key. */
	void requestCharge(String key, int period, int customer) {
		this.entries.add(new Entry(CARD, List.of(key, period, customer)));
	}

	private void write() {
		List<Entry> batch = new ArrayList<>();
		while (!this.closing || !this.entries.isEmpty() || !batch.isEmpty()) {
			try (Connection connection = DriverManager.getConnection(this.url, PostgresServer.USERNAME, "")) {
				while (!this.closing || !this.entries.isEmpty() || !batch.isEmpty()) {
					write(connection, batch);
				}
			}
			catch (SQLException ex) {
				LockSupport.parkNanos(TICK.toNanos()); // and again, with the same batch
			}
			catch (InterruptedException ex) {
				return;
			}
		}
	}

	private void write(Connection connection, List<Entry> batch) throws SQLException, InterruptedException {
		if (batch.isEmpty()) {
			Entry first = this.entries.poll(TICK.toMillis(), TimeUnit.MILLISECONDS);
			if (first == null) {
				return;
			}
			batch.add(first);
			this.entries.drainTo(batch);
		}
		connection.setAutoCommit(false);
		for (Entry entry : batch) {
			try (PreparedStatement statement = connection.prepareStatement(entry.sql())) {
				for (int i = 0; i < entry.values().size(); i++) {
					statement.setObject(i + 1, entry.values().get(i));
				}
				statement.executeUpdate();
			}
		}
		connection.commit();
		batch.clear();
	}

	private void measurePauses() {
		long last = System.currentTimeMillis();
		while (!this.closing) {
			LockSupport.parkNanos(TICK.toNanos());
			long now = System.currentTimeMillis();
			if (now - last > PAUSE.toMillis()) {
				note(last, "", "PAUSE", 0, Long.toString(now - last));
			}
			last = now;
		}
	}

	@Override
	public void close() {
		this.closing = true;
		try {
			this.writer.join(CLOSING.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private record Entry(String sql, List<Object> values) {
	}

}
