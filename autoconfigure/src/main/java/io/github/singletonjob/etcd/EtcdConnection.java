package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.support.Errors;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * The way to etcd: a client of our own, or one that belongs to the application.
 * <p>
 * gRPC waits longer and longer, up to two minutes, before it tries again to reach a
 * server. So when our own client has had no answer for some time, the next one is opened,
 * which tries at once. It is also opened when the last one was not used for long: what
 * lies in between may have dropped the connection without a sign, and etcd does not like
 * to be asked again and again whether it is still there. The old client is closed when
 * its last call is over.
 */
public final class EtcdConnection implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(1);

	private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

	private final @Nullable Supplier<Client> opener;

	private final @Nullable String target;

	private final Duration longestPause;

	private final ReentrantLock replacing = new ReentrantLock();

	private volatile Client client;

	private volatile long lastAnswer = System.nanoTime();

	private volatile boolean closed;

	private EtcdConnection(Client first, @Nullable Supplier<Client> opener, @Nullable String target,
			Duration longestPause) {
		this.client = first;
		this.opener = opener;
		this.target = target;
		this.longestPause = longestPause;
	}

	/**
	 * A connection of our own. Nothing is sent before the first call.
	 * @param endpoints where etcd is
	 * @return the connection, which closes what it opens
	 * @throws IllegalArgumentException if a file for TLS cannot be used
	 */
	public static EtcdConnection to(EtcdEndpoints endpoints) {
		return to(endpoints, LONGEST_PAUSE);
	}

	static EtcdConnection to(EtcdEndpoints endpoints, Duration longestPause) {
		Supplier<Client> opener = new ClientOpener(endpoints);
		return new EtcdConnection(opener.get(), opener, endpoints.target(), longestPause);
	}

	/**
	 * The application's own client. A call that gets no answer is left to it when its
	 * time is over.
	 * @param client the client, which is never closed here
	 * @return the connection
	 */
	public static EtcdConnection of(Client client) {
		return new EtcdConnection(client, null, null, LONGEST_PAUSE);
	}

	/** The target of our own client, or null. */
	@Nullable String target() {
		return this.target;
	}

	/**
	 * Sends a request. One that etcd refuses because of an old token of the user's
	 * session, so before it does anything, is sent once more: jetcd has dropped the token
	 * by then.
	 */
	<T> CompletableFuture<T> call(Function<Client, CompletableFuture<T>> request) {
		replaceAfter(this.longestPause, this.client);
		Client current = this.client;
		return send(current, request).exceptionallyCompose((failure) -> {
			boolean again = Errors.isAlwaysSafeToRetry(Status.fromThrowable(failure));
			return again ? send(current, request) : CompletableFuture.failedFuture(failure);
		}).whenComplete((answer, failure) -> {
			if (failure == null || !EtcdFailure.isSilence(failure)) {
				this.lastAnswer = System.nanoTime();
			}
			else {
				replaceAfter(PATIENCE, current);
			}
		});
	}

	/**
	 * As {@link #call}, for a request that may as well be served twice. Where there are
	 * several members and one is silent, another one is asked.
	 * @param patience how long one member has for its answer
	 */
	<T> CompletableFuture<T> ask(Function<Client, CompletableFuture<T>> request, Duration patience) {
		boolean alone = this.target == null || this.target.indexOf(',') < 0;
		return alone ? call(request) : new TwoTries<>(() -> call(request)).start(patience);
	}

	/**
	 * Sends a request whose answer nobody waits for.
	 * @param end is told when it is over, and whether it had an answer
	 */
	<T> void callAside(Function<Client, CompletableFuture<T>> request, Consumer<Boolean> end) {
		CompletableFuture<T> unused = call(request).whenComplete((answer, failure) -> end.accept(failure == null));
	}

	/**
	 * Watches a key for its end. The watch ends, too, when the client is replaced.
	 * @param revision the first one that counts
	 * @param listener is told on a thread of the client's
	 */
	Watch.Watcher watch(ByteSequence key, long revision, Watch.Listener listener) {
		WatchOption ends = WatchOption.builder().withRevision(revision).withNoPut(true).build();
		return this.client.getWatchClient().watch(key, ends, listener);
	}

	private static <T> CompletableFuture<T> send(Client client, Function<Client, CompletableFuture<T>> request) {
		try {
			return request.apply(client);
		}
		catch (RuntimeException ex) {
			// A client that is closed, for example
			return CompletableFuture.failedFuture(ex);
		}
	}

	/** Opens the next client if this one had no answer for so long. */
	private void replaceAfter(Duration time, Client current) {
		if (this.opener == null || isAnsweredWithin(time) || !this.replacing.tryLock()) {
			return;
		}
		try {
			if (!this.closed && this.client == current && !isAnsweredWithin(time)) {
				this.lastAnswer = System.nanoTime();
				this.client = this.opener.get();
				closeWhenIdle(current);
			}
		}
		finally {
			this.replacing.unlock();
		}
	}

	private boolean isAnsweredWithin(Duration time) {
		return System.nanoTime() - this.lastAnswer < time.toNanos();
	}

	private static void closeWhenIdle(Client old) {
		CompletableFuture.delayedExecutor(CallLimit.LONGEST_CALL.toMillis(), TimeUnit.MILLISECONDS).execute(old::close);
	}

	/** Closes the client if it is our own. */
	@Override
	public void close() {
		this.closed = true;
		this.replacing.lock();
		try {
			if (this.opener != null) {
				this.client.close();
			}
		}
		finally {
			this.replacing.unlock();
		}
	}

}
