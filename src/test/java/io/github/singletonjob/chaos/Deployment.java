package io.github.singletonjob.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.PostgresServer.Stop;
import io.github.singletonjob.servers.TcpProxy;

/**
 * The servers of a billing company, their database, and the store of their leases.
 */
final class Deployment implements AutoCloseable {

	static final long TTL = 2000;

	/** How long a server waits for PostgreSQL. */
	static final String BOUNDS = "?connectTimeout=2&socketTimeout=5";

	private final Database database = new Database();

	private final Mode mode;

	private final StoreKind kind;

	private final Ledger ledger;

	private final StoreSetup store;

	private final List<ServerSlot> slots;

	Deployment(Mode mode, StoreKind kind, int servers) {
		this.mode = mode;
		this.kind = kind;
		this.ledger = new Ledger(this.database, mode.fencing);
		this.store = switch (kind) {
			case POSTGRES -> new StoreSetup.Postgres(this.database, mode.wipe());
			case REDIS -> new StoreSetup.Redis();
			case ETCD -> new StoreSetup.Etcd();
		};
		this.slots = IntStream.rangeClosed(1, servers)
			.mapToObj((number) -> new ServerSlot(this::launch, "server" + number, this.database.newProxy(),
					this.store.newProxies()))
			.toList();
		this.slots.forEach(ServerSlot::start);
	}

	Mode mode() {
		return this.mode;
	}

	StoreKind kind() {
		return this.kind;
	}

	Ledger ledger() {
		return this.ledger;
	}

	List<ServerSlot> slots() {
		return this.slots;
	}

	/** Makes what a fault needs that comes later. */
	void prepare(Schedule schedule) {
		if (schedule.has(FaultKind.DATABASE_PROMOTION)) {
			this.database.startReplica();
		}
	}

	/** Begins a fault that hits all servers. */
	void begin(FaultKind fault) {
		switch (fault) {
			case SESSIONS_ENDED -> this.database.endSessions();
			case DATABASE_PROMOTION -> this.database.holdReplication();
			case BOTH_RESTART -> CompletableFuture
				.allOf(CompletableFuture.runAsync(() -> this.database.restart(Stop.FAST)),
						CompletableFuture.runAsync(() -> this.store.begin(fault)))
				.orTimeout(1, TimeUnit.MINUTES)
				.join();
			default -> this.store.begin(fault);
		}
	}

	void end(FaultKind fault) {
		if (fault == FaultKind.DATABASE_PROMOTION) {
			this.database.promoteReplica();
		}
		else {
			this.store.end(fault);
		}
	}

	private JvmProcess launch(String server, TcpProxy database, List<TcpProxy> storeProxies) {
		List<String> arguments = new ArrayList<>(List.of("--server.name=" + server,
				"--events.url=" + this.ledger.eventsUrl() + BOUNDS, "--singleton-job.holder=" + server,
				"--singleton-job.store=" + this.kind.property(), "--singleton-job.namespace=shop",
				"--singleton-job.lease.ttl=" + TTL + "ms", "--singleton-job.fencing.enabled=" + this.mode.fencing,
				"--spring.datasource.url=" + database.through(this.database.url()) + BOUNDS,
				"--spring.datasource.username=" + PostgresServer.USERNAME,
				"--spring.datasource.hikari.maximum-pool-size=5", "--spring.datasource.hikari.minimum-idle=2",
				"--spring.datasource.hikari.connection-timeout=2000", "--spring.task.scheduling.pool.size=3",
				"--spring.lifecycle.timeout-per-shutdown-phase=5s", "--spring.main.banner-mode=off"));
		if (this.mode == Mode.UNCONFIRMED) {
			arguments.add("--unconfirmed.url=" + database.through(this.database.url()) + BOUNDS);
		}
		arguments.addAll(this.store.arguments(storeProxies));
		return JvmProcess.of(this.mode.server, arguments.toArray(String[]::new)).start();
	}

	@Override
	public void close() {
		this.slots.forEach(ServerSlot::close);
		this.store.close();
		this.database.close();
	}

}
