package io.github.singletonjob.servers;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A real etcd cluster of three members.
 */
public final class EtcdCluster implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private final List<EtcdServer> members;

	private EtcdCluster(List<EtcdServer> members) {
		this.members = members;
	}

	/**
	 * Starts a cluster and returns when all members answer.
	 * @return the cluster
	 */
	public static EtcdCluster start() {
		List<EtcdServer> members = List.of(new EtcdServer("one"), new EtcdServer("two"), new EtcdServer("three"));
		String all = members.stream().map(EtcdServer::asMember).collect(Collectors.joining(","));
		EtcdCluster cluster = new EtcdCluster(members);
		try {
			members.forEach((member) -> member.in(all));
			cluster.launch();
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	/** Starts members that do not run, and returns when all of them answer. */
	public void launch() {
		this.members.forEach(EtcdServer::launch);
		this.members.forEach(EtcdServer::awaitHealth);
	}

	public List<EtcdServer> members() {
		return this.members;
	}

	public List<String> endpoints() {
		return this.members.stream().map(EtcdServer::endpoint).toList();
	}

	/**
	 * The member that leads the others.
	 * @return one of the members
	 */
	public EtcdServer leader() {
		return leaderAmong(this.members).orElseThrow();
	}

	private static Optional<EtcdServer> leaderAmong(List<EtcdServer> some) {
		return some.stream().filter(EtcdServer::isRunning).filter((member) -> member.api().isLeader()).findFirst();
	}

	private static EtcdServer awaitLeaderAmong(List<EtcdServer> some) {
		Waits.until("a leader", TIMEOUT, () -> leaderAmong(some).isPresent());
		return leaderAmong(some).orElseThrow();
	}

	/**
	 * Waits until a member leads the others.
	 * @return the one that does
	 */
	public EtcdServer awaitLeader() {
		return awaitLeaderAmong(this.members);
	}

	/**
	 * Waits until another member leads.
	 * @param last the one that did, and cannot answer now
	 * @return the one that does
	 */
	public EtcdServer awaitLeaderOtherThan(EtcdServer last) {
		return awaitLeaderAmong(this.members.stream().filter((member) -> member != last).toList());
	}

	@Override
	public void close() {
		this.members.forEach(EtcdServer::close);
	}

}
