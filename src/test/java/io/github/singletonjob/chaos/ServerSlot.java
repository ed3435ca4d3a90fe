package io.github.singletonjob.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.TcpProxy;
import org.jspecify.annotations.Nullable;

/**
 * A place for a server, with proxies to store and database that stay when the server is
 * replaced by another one.
 */
final class ServerSlot implements AutoCloseable {

	private final List<JvmProcess> former = new ArrayList<>();

	private final Launch launch;

	private final String name;

	private final List<TcpProxy> database;

	private final List<TcpProxy> store;

	private int generation;

	private @Nullable JvmProcess process;

	ServerSlot(Launch launch, String name, TcpProxy database, List<TcpProxy> store) {
		this.launch = launch;
		this.name = name;
		this.database = List.of(database);
		this.store = store;
	}

	/** The name of the server that is here now. */
	String server() {
		return this.name + "-" + this.generation;
	}

	/** What a fault of the network between this server and others works on. */
	List<TcpProxy> proxies(FaultKind kind) {
		List<TcpProxy> hit = new ArrayList<>();
		if (!kind.name().startsWith("STORE")) {
			hit.addAll(this.database);
		}
		if (!kind.name().startsWith("DATABASE")) {
			hit.addAll(this.store);
		}
		return hit;
	}

	JvmProcess process() {
		if (this.process == null) {
			throw new IllegalStateException("No server was started as " + this.name);
		}
		return this.process;
	}

	boolean isAlive() {
		return process().isAlive();
	}

	boolean isReady() {
		return isAlive() && process().lines().stream().anyMatch((line) -> line.contains("SAYS READY"));
	}

	/** Starts a server, also while the last one still ends. */
	void start() {
		if (this.process != null) {
			this.former.add(this.process);
		}
		this.generation++;
		this.process = this.launch.start(server(), this.database.get(0), this.store);
	}

	/**
	 * A server that could not start, since it was started during a fault, is started
	 * again.
	 */
	void restartIfEnded() {
		if (!isAlive()) {
			start();
		}
	}

	/** Ends, by force if need be, the servers that were here before. */
	void dismissFormer(Duration atMost) {
		for (JvmProcess each : this.former) {
			if (each.isAlive()) {
				each.awaitExit(atMost);
			}
			each.close();
		}
		this.former.clear();
	}

	@Override
	public void close() {
		this.former.forEach(JvmProcess::close);
		process().close();
		this.store.forEach(TcpProxy::close);
	}

	/** How a server is started. */
	interface Launch {

		JvmProcess start(String server, TcpProxy database, List<TcpProxy> store);

	}

}
