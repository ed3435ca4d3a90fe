package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * The thread of a {@link TcpProxy}. Everything but {@link #call} and the counters happens
 * on it.
 */
final class ProxyLoop implements Runnable {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

	/** The step in which the loop waits for less than the selector can measure. */
	private static final long SHORT_WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

	private final int port = Ports.free();

	private final int targetPort;

	private final Selector selector;

	private final Thread thread = new Thread(this, "tcp-proxy-" + this.port);

	private final Queue<Runnable> calls = new ConcurrentLinkedQueue<>();

	private final List<ProxyLink> links = new CopyOnWriteArrayList<>();

	private final AtomicInteger connections = new AtomicInteger();

	private final AtomicLong bytesToServer = new AtomicLong();

	private final AtomicLong bytesToClients = new AtomicLong();

	private @Nullable ServerSocketChannel listener;

	private ProxyState state = ProxyState.PASS;

	private volatile boolean closed;

	private ProxyLoop(int targetPort, Selector selector) {
		this.targetPort = targetPort;
		this.selector = selector;
	}

	static ProxyLoop start(int targetPort) {
		try {
			ProxyLoop loop = new ProxyLoop(targetPort, Selector.open());
			loop.listen();
			loop.thread.setDaemon(true);
			loop.thread.start();
			return loop;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	int port() {
		return this.port;
	}

	int connections() {
		return this.connections.get();
	}

	int openLinks() {
		return this.links.size();
	}

	AtomicLong bytesToServer() {
		return this.bytesToServer;
	}

	AtomicLong bytesToClients() {
		return this.bytesToClients;
	}

	/** Has the loop do something and waits until it is done. */
	void call(Runnable action) {
		if (this.closed) {
			throw new IllegalStateException("The proxy is closed");
		}
		CompletableFuture.runAsync(action, this::enqueue).orTimeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).join();
	}

	void set(ProxyState state) {
		this.state = state;
		try {
			listen();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void resetLinks() {
		this.links.forEach(ProxyLink::reset);
		this.links.clear();
		finishClosing();
	}

	void close() {
		this.closed = true;
		this.selector.wakeup();
		try {
			this.thread.join(TIMEOUT.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public void run() {
		try (this.selector) {
			while (!this.closed) {
				turn();
			}
			resetLinks();
			set(new ProxyState(false, true, true, Duration.ZERO));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void enqueue(Runnable call) {
		this.calls.add(call);
		this.selector.wakeup();
	}

	private void turn() throws IOException {
		select();
		for (Runnable call = this.calls.poll(); call != null; call = this.calls.poll()) {
			call.run();
		}
		accept();
		long now = System.nanoTime();
		this.links.removeIf((link) -> !link.pump(this.state, now));
	}

	private void select() throws IOException {
		long now = System.nanoTime();
		long nanos = this.links.stream()
			.mapToLong((link) -> link.nanosToNext(this.state, now))
			.min()
			.orElse(Long.MAX_VALUE);
		if (nanos == Long.MAX_VALUE) {
			this.selector.select(ProxyLoop::ignore);
		}
		else if (nanos >= NANOS_PER_MILLI) {
			this.selector.select(ProxyLoop::ignore, nanos / NANOS_PER_MILLI);
		}
		else {
			LockSupport.parkNanos(Math.min(nanos, SHORT_WAIT_NANOS));
			this.selector.selectNow(ProxyLoop::ignore);
		}
	}

	/** Opens or closes the listening socket, and hears it unless the network is cut. */
	private void listen() throws IOException {
		if (!this.state.accepting() && this.listener != null) {
			this.listener.close();
			this.listener = null;
			finishClosing();
		}
		if (this.state.accepting() && this.listener == null) {
			this.listener = ServerSocketChannel.open().bind(Ports.at(this.port));
			this.listener.configureBlocking(false);
			this.listener.register(this.selector, 0);
		}
		if (this.listener != null) {
			this.listener.keyFor(this.selector).interestOps(this.state.isCut() ? 0 : SelectionKey.OP_ACCEPT);
		}
	}

	/** A registered channel stays open until the selector has let it go. */
	private void finishClosing() {
		try {
			this.selector.selectNow(ProxyLoop::ignore);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void accept() throws IOException {
		if (this.listener == null || this.state.isCut()) {
			return;
		}
		for (SocketChannel client = this.listener.accept(); client != null; client = this.listener.accept()) {
			this.connections.incrementAndGet();
			this.links
				.add(new ProxyLink(this.selector, client, this.targetPort, this.bytesToServer, this.bytesToClients));
		}
	}

	/** The loop looks at all links after each selection. */
	private static void ignore(SelectionKey key) {
	}

}
