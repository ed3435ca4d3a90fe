package io.github.singletonjob.redis;

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

	/** Sends a script, if necessary with its text; its answer is not waited for. */
	@SuppressWarnings("FutureReturnValueIgnored") // the command is looked at later
	void start(ScriptCommand command) {
		send(command);
		command.settled(this::send);
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
	 * Executes scripts without waiting in between.
	 * @return one reply for each, in the same order
	 */
	List<ScriptReply> execute(List<ScriptCommand> commands, CallTime time) {
		send(commands);
		time.await(CompletableFuture
			.allOf(commands.stream().map((command) -> command.settled(this::send)).toArray(CompletableFuture[]::new)));
		List<ScriptReply> replies = commands.stream().map(ScriptReply::of).toList();
		if (replies.stream().anyMatch(ScriptReply::isAnswer)) {
			this.unanswered.set(0);
		}
		else {
			this.unanswered.incrementAndGet();
		}
		if (replies.stream().anyMatch((reply) -> reply.failure() instanceof RedisReadOnlyException)) {
			this.unanswered.set(DOUBTS); // not the primary any more
		}
		return replies;
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
