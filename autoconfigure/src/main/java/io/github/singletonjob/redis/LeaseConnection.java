package io.github.singletonjob.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.protocol.AsyncCommand;

/**
 * A connection of the store's own, in a Cluster one to each node. Executes scripts, and
 * notices when it should be replaced.
 */
final class LeaseConnection implements AutoCloseable {

	/** So many calls in a row without any answer, and another connection is tried. */
	private static final int DOUBTS = 2;

	private final LeaseConnectionFactory factory;

	private final StatefulConnection<byte[], byte[]> connection;

	private final AtomicInteger unanswered = new AtomicInteger();

	private LeaseConnection(LeaseConnectionFactory factory, StatefulConnection<byte[], byte[]> connection) {
		this.factory = factory;
		this.connection = connection;
	}

	/** Connects; blocks until that has worked or not. */
	static LeaseConnection open(LeaseConnectionFactory factory) {
		try {
			return new LeaseConnection(factory, factory.connect());
		}
		catch (RuntimeException ex) {
			factory.destroy();
			throw ex;
		}
	}

	/** Sends one command; its answer is not waited for. */
	void send(AsyncCommand<byte[], byte[], ?> command) {
		try {
			this.connection.dispatch(command);
		}
		catch (RedisException ex) {
			command.completeExceptionally(ex); // its slot has no node, for example
		}
	}

	/**
	 * In a Cluster one by one, so that a node that does not answer delays its own only.
	 */
	private void send(List<ScriptCommand> commands) {
		if (this.connection instanceof StatefulRedisClusterConnection) {
			commands.forEach(this::send);
		}
		else {
			this.connection.dispatch(commands);
		}
	}

	/**
	 * Executes scripts without waiting in between; those that Redis does not know once
	 * more, with their texts.
	 * @return one reply for each, in the same order
	 */
	List<ScriptReply> execute(List<ScriptCommand> commands, CallTime time) {
		List<ScriptReply> replies = exchange(commands, time);
		List<ScriptCommand> again = new ArrayList<>();
		for (int i = 0; i < replies.size(); i++) {
			if (replies.get(i).lacksScript()) {
				again.add(commands.get(i).withText());
			}
		}
		if (again.isEmpty()) {
			return replies;
		}
		List<ScriptReply> merged = new ArrayList<>();
		List<ScriptReply> second = exchange(again, time);
		int next = 0;
		for (ScriptReply reply : replies) {
			merged.add(reply.lacksScript() ? second.get(next++) : reply);
		}
		return merged;
	}

	private List<ScriptReply> exchange(List<ScriptCommand> commands, CallTime time) {
		send(commands);
		time.await(CompletableFuture.allOf(commands.toArray(CompletableFuture[]::new)));
		List<ScriptReply> replies = commands.stream().map(ScriptReply::of).toList();
		if (replies.stream().anyMatch(ScriptReply::isAnswer)) {
			answered();
		}
		else {
			this.unanswered.incrementAndGet();
		}
		if (replies.stream().anyMatch((reply) -> reply.failure() instanceof RedisReadOnlyException)) {
			this.unanswered.set(DOUBTS); // not the primary any more
		}
		return replies;
	}

	void answered() {
		this.unanswered.set(0);
	}

	boolean isOpen() {
		return this.connection.isOpen();
	}

	/** Whether it is worth a try to connect anew. */
	boolean isDoubtful() {
		return !isOpen() || this.unanswered.get() >= DOUBTS;
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

}
