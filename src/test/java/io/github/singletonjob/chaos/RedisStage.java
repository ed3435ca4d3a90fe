package io.github.singletonjob.chaos;

import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.servers.RedisServer;
import io.github.singletonjob.servers.TcpProxy;
import io.lettuce.core.api.sync.RedisCommands;

/**
 * A primary with a replica. After a promotion all proxies lead to the new primary, and
 * the old one comes back as its replica.
 */
final class RedisStage implements Stage {

	private final List<TcpProxy> proxies = new ArrayList<>();

	private RedisServer primary = RedisServer.create().start();

	private RedisServer replica = RedisServer.create().start();

	RedisStage() {
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
			case STORE_RESTART -> this.primary.restart();
			case STORE_WIPE -> this.primary.ask(RedisCommands::flushall);
			case PROMOTION -> promote();
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
		else if (kind == FaultKind.PROMOTION) {
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
