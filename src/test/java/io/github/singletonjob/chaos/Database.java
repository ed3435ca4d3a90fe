package io.github.singletonjob.chaos;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.PostgresServer.Stop;
import io.github.singletonjob.servers.TcpProxy;
import org.jspecify.annotations.Nullable;

/**
 * The guarded database, and the proxies that lead to it. A replica that follows
 * asynchronously can take its place; all proxies lead there then.
 */
final class Database implements AutoCloseable {

	private final List<TcpProxy> proxies = new CopyOnWriteArrayList<>();

	private final String name;

	/** A connection that does not say what it wants holds up a restart for that long. */
	private volatile PostgresServer primary = PostgresServer.create().with("authentication_timeout", "2s").start();

	private @Nullable PostgresServer replica;

	/** What leads the replica to the primary. */
	private @Nullable TcpProxy replication;

	Database() {
		String url = this.primary.newDatabase();
		this.name = url.substring(url.lastIndexOf('/') + 1);
	}

	/** Where it is now, past all proxies. */
	String url() {
		return "jdbc:postgresql://127.0.0.1:%d/%s".formatted(this.primary.port(), this.name);
	}

	TcpProxy newProxy() {
		TcpProxy proxy = TcpProxy.to(this.primary.port());
		this.proxies.add(proxy);
		return proxy;
	}

	void freeze() {
		this.primary.freeze();
	}

	void resume() {
		this.primary.resume();
	}

	void restart(Stop how) {
		this.primary.restart(how);
	}

	/** Ends the sessions of all clients. */
	void endSessions() {
		execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
				+ " and backend_type = 'client backend' and pid <> pg_backend_pid()");
	}

	/** Starts a replica that has all that the primary has. */
	void startReplica() {
		this.replication = TcpProxy.to(this.primary.port());
		this.replica = this.primary.startReplica(this.replication.port());
	}

	/** What is committed from here on does not reach the replica. */
	void holdReplication() {
		if (this.replication != null) {
			this.replication.hang();
		}
	}

	/** Kills the primary and lets the replica take its place. */
	void promoteReplica() {
		PostgresServer former = this.primary;
		PostgresServer successor = this.replica;
		if (successor == null || this.replication == null) {
			throw new IllegalStateException("No replica was started");
		}
		former.kill();
		this.replication.close();
		successor.promote();
		this.primary = successor;
		this.replica = null;
		this.proxies.forEach((proxy) -> proxy.leadTo(successor.port()));
		former.close();
	}

	void execute(String... statements) {
		try (Connection connection = PostgresServer.connect(url());
				Statement statement = connection.createStatement()) {
			for (String each : statements) {
				statement.execute(each);
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(String.join("; ", statements), ex);
		}
	}

	@Override
	public void close() {
		this.proxies.forEach(TcpProxy::close);
		if (this.replica != null) {
			this.replica.close();
		}
		if (this.replication != null) {
			this.replication.close();
		}
		this.primary.close();
	}

}
