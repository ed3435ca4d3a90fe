package io.github.singletonjob.chaos;

import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.stream.Collectors;

import io.github.singletonjob.servers.EtcdCluster;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * A cluster of three members.
 */
final class EtcdStage implements Stage {

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
		return List.of("--singleton-job.etcd.endpoints="
				+ proxies.stream().map((proxy) -> "http://127.0.0.1:" + proxy.port()).collect(Collectors.joining(",")));
	}

	@Override
	public void begin(FaultKind kind) {
		switch (kind) {
			case STORE_FROZEN -> this.cluster.members().forEach(EtcdServer::freeze);
			case STORE_RESTART -> restart();
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
