package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread of a {@link TcpProxy}. Everything but {@link #call}, {@link #close} and the
 * numbers happens on it.
 */
final class ProxyLoop implements Runnable {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final ProxyState CLOSED = new ProxyState(false, true, true, Duration.ZERO);

	private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

	/** The step in which the loop waits for less than the selector can measure. */
	private static final long SHORT_WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

	private int targetPort;

	private final Selector selector;

	private final ProxyListener listener;

	private final Thread thread;

	private final Queue<Runnable> calls = new ConcurrentLinkedQueue<>();

	private final List<ProxyLink> links = new CopyOnWriteArrayList<>();

	private final ProxyTraffic traffic = new ProxyTraffic();

	private ProxyState state = ProxyState.PASS;

	private volatile boolean closed;

	private ProxyLoop(int targetPort, Selector selector) {
		this.targetPort = targetPort;
		this.selector = selector;
		this.listener = new ProxyListener(selector);
		this.thread = new Thread(this, "tcp-proxy-" + port());
		this.thread.setDaemon(true);
	}

	static ProxyLoop start(int targetPort) {
		try {
			ProxyLoop loop = new ProxyLoop(targetPort, Selector.open());
			loop.listener.apply(loop.state);
			loop.thread.start();
			return loop;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	int port() {
		return this.listener.port();
	}

	int openLinks() {
		return this.links.size();
	}

	ProxyTraffic traffic() {
		return this.traffic;
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
			this.listener.apply(state);
			finishClosing();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void leadTo(int targetPort) {
		this.targetPort = targetPort;
		resetLinks();
	}

	void resetLinks() {
		this.links.forEach(ProxyLink::reset);
		this.links.clear();
		finishClosing();
	}

	void endLinks() {
		this.links.forEach(ProxyLink::end);
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
			set(CLOSED);
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
		for (SocketChannel client = this.listener.accept(); client != null; client = this.listener.accept()) {
			this.traffic.countConnection();
			this.links.add(new ProxyLink(this.selector, client, this.targetPort, this.traffic));
		}
	}

	/** The loop looks at all links after each selection. */
	private static void ignore(SelectionKey key) {
	}

}
