package io.github.singletonjob.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.stream.Collectors;

import io.github.singletonjob.servers.EtcdCluster;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.PostgresServer.Stop;
import io.github.singletonjob.servers.RedisServer;
import io.github.singletonjob.servers.TcpProxy;
import io.lettuce.core.api.sync.RedisCommands;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * The processes of a store, and what can be done to them. A fault that lasts is ended by
 * {@link #end}.
 */
interface StoreSetup extends AutoCloseable {

	/** New proxies, for one server, to all that it has to reach. */
	List<TcpProxy> newProxies();

	/** The arguments with which a server finds the store through its proxies. */
	List<String> arguments(List<TcpProxy> proxies);

	void begin(FaultKind kind);

	default void end(FaultKind kind) {
	}

	@Override
	default void close() {
	}

	/**
	 * Leases in the guarded database itself, over a connection of their own.
	 */
	final class Postgres implements StoreSetup {

		private final Database database;

		private final String[] wipe;

		Postgres(Database database, List<String> wipe) {
			this.database = database;
			this.wipe = wipe.toArray(String[]::new);
		}

		@Override
		public List<TcpProxy> newProxies() {
			return List.of(this.database.newProxy());
		}

		@Override
		public List<String> arguments(List<TcpProxy> proxies) {
			return List.of("--store.url=" + proxies.get(0).through(this.database.url()) + Deployment.BOUNDS);
		}

		@Override
		public void begin(FaultKind kind) {
			switch (kind) {
				case STORE_FROZEN -> this.database.freeze();
				case STORE_RESTART -> this.database.restart(Stop.IMMEDIATE);
				case STORE_WIPE -> this.database.execute(this.wipe);
				case BOTH_RESTART -> {
					// It is one server, and restarted as the database
				}
				default -> throw new IllegalArgumentException(kind.toString());
			}
		}

		@Override
		public void end(FaultKind kind) {
			if (kind == FaultKind.STORE_FROZEN) {
				this.database.resume();
			}
		}

	}

	/**
	 * A primary with a replica. After a promotion all proxies lead to the new primary,
	 * and the old one comes back as its replica.
	 */
	final class Redis implements StoreSetup {

		private final List<TcpProxy> proxies = new ArrayList<>();

		private RedisServer primary = RedisServer.create().start();

		private RedisServer replica = RedisServer.create().start();

		Redis() {
			this.replica.replicaOf(this.primary);
		}

		@Override
		public List<TcpProxy> newProxies() {
			TcpProxy proxy = TcpProxy.to(this.primary.port());
			this.proxies.add(proxy);
			return List.of(proxy);
		}

		@Override
		public List<String> arguments(List<TcpProxy> proxies) {
			return List.of("--spring.data.redis.port=" + proxies.get(0).port());
		}

		@Override
		public void begin(FaultKind kind) {
			switch (kind) {
				case STORE_FROZEN -> this.primary.freeze();
				case STORE_RESTART, BOTH_RESTART -> this.primary.restart();
				case STORE_WIPE -> this.primary.ask(RedisCommands::flushall);
				case STORE_PROMOTION -> promote();
				default -> throw new IllegalArgumentException(kind.toString());
			}
		}

		private void promote() {
			this.primary.kill();
			this.replica.promote();
			RedisServer old = this.primary;
			this.primary = this.replica;
			this.replica = old;
			this.proxies.forEach((proxy) -> proxy.leadTo(this.primary.port()));
		}

		@Override
		public void end(FaultKind kind) {
			if (kind == FaultKind.STORE_FROZEN) {
				this.primary.resume();
			}
			else if (kind == FaultKind.STORE_PROMOTION) {
				this.replica.start();
				this.replica.replicaOf(this.primary);
			}
		}

		@Override
		public void close() {
			this.primary.close();
			this.replica.close();
		}

	}

	/**
	 * A cluster of three members.
	 */
	final class Etcd implements StoreSetup {

		private static final String PREFIX = "singleton-job/";

		private static final Duration ELECTION = Duration.ofSeconds(10);

		private final EtcdCluster cluster = EtcdCluster.start();

		private @Nullable EtcdServer hit;

		@Override
		public List<TcpProxy> newProxies() {
			return this.cluster.members().stream().map((member) -> TcpProxy.to(member.port())).toList();
		}

		@Override
		public List<String> arguments(List<TcpProxy> proxies) {
			return List.of("--singleton-job.etcd.endpoints=" + proxies.stream()
				.map((proxy) -> "http://127.0.0.1:" + proxy.port())
				.collect(Collectors.joining(",")));
		}

		@Override
		public void begin(FaultKind kind) {
			switch (kind) {
				case STORE_FROZEN -> this.cluster.members().forEach(EtcdServer::freeze);
				case STORE_RESTART, BOTH_RESTART -> restart();
				case STORE_WIPE -> wipe();
				case LEADER_CHANGE -> leader().freeze();
				case MEMBER_KILL -> leader().kill();
				default -> throw new IllegalArgumentException(kind.toString());
			}
		}

		private EtcdServer leader() {
			EtcdServer leader = Awaitility.await()
				.atMost(ELECTION)
				.ignoreException(NoSuchElementException.class)
				.until(this.cluster::leader, Objects::nonNull);
			this.hit = leader;
			return leader;
		}

		private void restart() {
			this.cluster.members().forEach(EtcdServer::kill);
			this.cluster.launch();
		}

		private void wipe() {
			EtcdServer any = this.cluster.members().get(0);
			any.api().keys(PREFIX).forEach(any.api()::delete);
		}

		@Override
		public void end(FaultKind kind) {
			EtcdServer member = this.hit;
			if (kind == FaultKind.STORE_FROZEN) {
				this.cluster.members().forEach(EtcdServer::resume);
			}
			else if (kind == FaultKind.LEADER_CHANGE && member != null) {
				member.resume();
			}
			else if (kind == FaultKind.MEMBER_KILL && member != null) {
				member.start();
			}
		}

		@Override
		public void close() {
			this.cluster.close();
		}

	}

}
