package io.github.singletonjob.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;

/**
 * The servers of a billing company, its books, and the store of their leases.
 */
final class Company implements AutoCloseable {

	static final long TTL = 2000;

	private static final String BOUNDS = "?connectTimeout=2&socketTimeout=5";

	private final PostgresServer postgres = PostgresServer.create().start();

	private final Mode mode;

	private final StoreKind store;

	private final Books books;

	private final Stage stage;

	private final List<Seat> seats;

	Company(Mode mode, StoreKind store, int servers) {
		this.mode = mode;
		this.store = store;
		this.books = new Books(this.postgres.newDatabase());
		this.stage = switch (store) {
			case POSTGRES -> new PostgresStage(this.postgres, this.books.url(), mode.wipe());
			case REDIS -> new RedisStage();
			case ETCD -> new EtcdStage();
		};
		this.seats = IntStream.rangeClosed(1, servers)
			.mapToObj((number) -> new Seat(this::launch, "server" + number, this.postgres.port(), this.stage))
			.toList();
		this.seats.forEach(Seat::start);
	}

	Mode mode() {
		return this.mode;
	}

	StoreKind store() {
		return this.store;
	}

	Books books() {
		return this.books;
	}

	Stage stage() {
		return this.stage;
	}

	List<Seat> seats() {
		return this.seats;
	}

	private JvmProcess launch(String server, TcpProxy database, List<TcpProxy> storeProxies) {
		List<String> arguments = new ArrayList<>(
				List.of("--server.name=" + server, "--diary.url=" + this.books.url() + BOUNDS,
						"--singleton-job.holder=" + server, "--singleton-job.store=" + this.store.property(),
						"--singleton-job.namespace=shop", "--singleton-job.lease.ttl=" + TTL + "ms",
						"--spring.datasource.url=" + database.through(this.books.url()) + BOUNDS,
						"--spring.datasource.username=" + PostgresServer.USERNAME,
						"--spring.datasource.hikari.maximum-pool-size=5", "--spring.datasource.hikari.minimum-idle=2",
						"--spring.datasource.hikari.connection-timeout=2000", "--spring.task.scheduling.pool.size=3",
						"--spring.lifecycle.timeout-per-shutdown-phase=5s", "--spring.main.banner-mode=off"));
		arguments.addAll(this.stage.arguments(storeProxies));
		arguments.add("--singleton-job.fencing.enabled=" + this.mode.fencing);
		return JvmProcess.of(this.mode.server, arguments.toArray(String[]::new)).start();
	}

	@Override
	public void close() {
		this.seats.forEach(Seat::close);
		this.stage.close();
		this.postgres.close();
	}

}
