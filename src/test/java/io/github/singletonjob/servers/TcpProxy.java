package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A loopback port that leads to another one, with faults on demand. Each switch is in
 * effect when its method returns, and counts for open and for new connections.
 * <p>
 * Each connection has two threads, one for each direction, which read, wait until the
 * bytes may arrive, and write. What is not read yet stays in the buffers of the kernel.
 */
public final class TcpProxy implements AutoCloseable {

	private static final Mode PASS = new Mode(true, false, false, 0);

	private static final int CHUNK = 64 * 1024;

	private static final Duration TIME_FOR_A_WRITE = Duration.ofSeconds(1);

	private final int port = Ports.free();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final Set<Link> links = ConcurrentHashMap.newKeySet();

	private final AtomicInteger connections = new AtomicInteger();

	private final AtomicInteger roundTrips = new AtomicInteger();

	private final AtomicLong bytesToServer = new AtomicLong();

	private final AtomicLong bytesToClients = new AtomicLong();

	private Mode mode = PASS;

	private int targetPort;

	private int writing;

	/**
	 * A socket listens for as long as a thread is about to accept on it, closed or not.
	 */
	private int acceptors;

	private int heldRequests;

	private boolean closed;

	private @Nullable ServerSocket listener;

	private TcpProxy(int targetPort) {
		this.targetPort = targetPort;
		this.listener = listen();
	}

	/**
	 * Starts a proxy that passes everything.
	 * @param targetPort the loopback port to which it leads
	 * @return the proxy
	 */
	public static TcpProxy to(int targetPort) {
		return new TcpProxy(targetPort);
	}

	/**
	 * Leads a URL through this proxy.
	 * @param url with a host and a port, as in
	 * {@code jdbc:postgresql://127.0.0.1:5432/db}
	 * @return the URL with the port of this proxy
	 */
	public String through(String url) {
		return url.replaceFirst("//([^:/]+):\\d+", "//$1:" + this.port);
	}

	public int port() {
		return this.port;
	}

	/** Ends every fault; bytes that were held are delivered. */
	public void pass() {
		set(PASS);
	}

	/** Cuts the network without a sign: all stays open, nothing gets through. */
	public void hang() {
		set(new Mode(true, true, true, 0));
	}

	/** Requests arrive, their replies are held. */
	public void hangReplies() {
		set(new Mode(true, false, true, 0));
	}

	/** Requests are held, what the server sends arrives. */
	public void hangRequests() {
		set(new Mode(true, true, false, 0));
	}

	/**
	 * Lets bytes arrive later, in order: a round trip takes twice as long. Bytes that
	 * come while others wait arrive together, up to twice as late.
	 * @param oneWay how much later
	 */
	public void delay(Duration oneWay) {
		set(new Mode(true, false, false, oneWay.toNanos()));
	}

	/** Refuses new connections until the next switch; open ones pass. */
	public void refuse() {
		set(new Mode(false, false, false, 0));
	}

	/**
	 * Leads to another port from here on; ends all open connections with a RST.
	 * @param targetPort the loopback port
	 */
	public void leadTo(int targetPort) {
		locked(() -> this.targetPort = targetPort);
		reset();
	}

	/** Ends all open connections with a RST; bytes that were held are lost. */
	public void reset() {
		endAll(Link::reset);
	}

	/** Ends all open connections in an orderly way; bytes that were held are lost. */
	public void end() {
		endAll(Link::close);
	}

	/**
	 * How many connections there were.
	 * @return open and closed ones
	 */
	public int connections() {
		return this.connections.get();
	}

	public int openConnections() {
		return this.links.size();
	}

	/**
	 * How often a client has waited for the server: requests that were sent without
	 * waiting for the answers to earlier ones count together.
	 * @return over all connections
	 */
	public int roundTrips() {
		return this.roundTrips.get();
	}

	/**
	 * How many bytes have been delivered to the server.
	 * @return over all connections
	 */
	public long bytesToServer() {
		return this.bytesToServer.get();
	}

	/**
	 * How many bytes have been delivered to the clients.
	 * @return over all connections
	 */
	public long bytesToClients() {
		return this.bytesToClients.get();
	}

	/**
	 * Waits until a client has sent something that is held.
	 * @param atMost how long
	 */
	public void awaitHeldRequest(Duration atMost) {
		Waits.until("a request that is held", atMost, this::holdsRequest);
	}

	private boolean holdsRequest() {
		this.lock.lock();
		try {
			return this.heldRequests > 0;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Ends all connections with a RST, and the proxy. */
	@Override
	public void close() {
		locked(() -> {
			this.closed = true;
			this.changed.signalAll();
			stopListening();
		});
		reset();
	}

	private void set(Mode wanted) {
		locked(() -> {
			if (this.closed) {
				throw new IllegalStateException("The proxy is closed");
			}
			this.mode = wanted;
			this.changed.signalAll();
			if (!wanted.accepting()) {
				stopListening();
			}
			else if (this.listener == null) {
				this.listener = listen();
			}
			awaitWriters();
		});
	}

	/** One whose receiver does not read is not waited for. */
	private void awaitWriters() {
		long nanos = TIME_FOR_A_WRITE.toNanos();
		while (this.writing > 0 && nanos > 0) {
			nanos = await(nanos);
		}
	}

	private void endAll(Consumer<Link> end) {
		locked(() -> {
			this.links.forEach(end);
			this.links.clear();
			this.changed.signalAll();
		});
	}

	private void locked(Runnable action) {
		this.lock.lock();
		try {
			action.run();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Waits for a change, with the lock held. */
	@SuppressWarnings("WaitNotInLoop") // its callers loop
	private long await(long nanos) {
		try {
			return this.changed.awaitNanos(nanos);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return 0;
		}
	}

	private ServerSocket listen() {
		try {
			ServerSocket opened = new ServerSocket();
			opened.setReuseAddress(true);
			opened.bind(Ports.at(this.port), 200);
			locked(() -> this.acceptors++);
			start(() -> accept(opened));
			return opened;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void stopListening() {
		if (this.listener != null) {
			closeQuietly(this.listener);
			this.listener = null;
			long nanos = TIME_FOR_A_WRITE.toNanos();
			while (this.acceptors > 0 && nanos > 0) {
				nanos = await(nanos);
			}
		}
	}

	private void accept(ServerSocket opened) {
		try {
			while (!opened.isClosed()) {
				Socket client = opened.accept();
				if (awaitNetwork()) {
					this.connections.incrementAndGet();
					start(() -> connect(client));
				}
				else {
					closeQuietly(client);
				}
			}
		}
		catch (IOException ex) {
			closeQuietly(opened);
		}
		finally {
			locked(() -> {
				this.acceptors--;
				this.changed.signalAll();
			});
		}
	}

	/** A network that is cut both ways lets no handshake through. */
	private boolean awaitNetwork() {
		this.lock.lock();
		try {
			while (!this.closed && this.mode.requestsHeld() && this.mode.repliesHeld()) {
				this.changed.awaitUninterruptibly();
			}
			return !this.closed;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void connect(Socket client) {
		Socket server = new Socket();
		Link link = new Link(client, server);
		boolean[] open = { true };
		locked(() -> {
			open[0] = !this.closed;
			this.links.add(link);
		});
		try {
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
			server.connect(Ports.at(this.targetPort));
		}
		catch (IOException ex) {
			open[0] = false;
		}
		if (!open[0]) {
			drop(link);
			return;
		}
		start(() -> move(link, client, server, true));
		move(link, server, client, false);
	}

	private void move(Link link, Socket from, Socket to, boolean request) {
		byte[] chunk = new byte[CHUNK];
		try {
			InputStream input = from.getInputStream();
			for (int count = input.read(chunk); count >= 0; count = input.read(chunk)) {
				if (!beginWrite(link, request)) {
					return;
				}
				try {
					count(link, request, count);
					to.getOutputStream().write(chunk, 0, count);
				}
				finally {
					endWrite();
				}
			}
			to.shutdownOutput();
			if (link.ended.incrementAndGet() == 2) {
				this.links.remove(link);
				link.close();
			}
		}
		catch (IOException ex) {
			drop(link);
		}
	}

	private void drop(Link link) {
		this.links.remove(link);
		link.reset();
	}

	/** Waits until the bytes that were just read may arrive. */
	private boolean beginWrite(Link link, boolean request) {
		this.lock.lock();
		try {
			long nanos = this.mode.delayNanos();
			long due = System.nanoTime() + nanos;
			while (!link.closed && (this.mode.holds(request) || nanos > 0)) {
				if (this.mode.holds(request)) {
					this.heldRequests += request ? 1 : 0;
					this.changed.awaitUninterruptibly();
					this.heldRequests -= request ? 1 : 0;
				}
				else {
					await(nanos);
				}
				nanos = due - System.nanoTime();
			}
			if (!link.closed) {
				this.writing++;
			}
			return !link.closed;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void endWrite() {
		locked(() -> {
			this.writing--;
			this.changed.signalAll();
		});
	}

	/** Counted before they are written, for those who receive them and ask. */
	private void count(Link link, boolean request, int count) {
		if (!request) {
			this.bytesToClients.addAndGet(count);
			link.answered = true;
			return;
		}
		this.bytesToServer.addAndGet(count);
		if (link.answered) {
			link.answered = false;
			this.roundTrips.incrementAndGet();
		}
	}

	private void start(Runnable work) {
		Thread thread = new Thread(work, "tcp-proxy-" + this.port);
		thread.setDaemon(true);
		thread.start();
	}

	private static void closeQuietly(AutoCloseable closeable) {
		try {
			closeable.close();
		}
		catch (Exception ex) {
			// It is of no use any more either way
		}
	}

	/**
	 * What is done with connections and bytes.
	 *
	 * @param accepting whether new connections are possible
	 * @param requestsHeld whether bytes to the server are held
	 * @param repliesHeld whether bytes to the client are held
	 * @param delayNanos how much later bytes arrive
	 */
	private record Mode(boolean accepting, boolean requestsHeld, boolean repliesHeld, long delayNanos) {

		boolean holds(boolean request) {
			return request ? this.requestsHeld : this.repliesHeld;
		}

	}

	/**
	 * A client's connection and the one to the server that belongs to it.
	 */
	private static final class Link {

		private final Socket client;

		private final Socket server;

		private final AtomicInteger ended = new AtomicInteger();

		private volatile boolean answered = true;

		private volatile boolean closed;

		Link(Socket client, Socket server) {
			this.client = client;
			this.server = server;
		}

		/** Closing a socket that lingers for no time sends a RST. */
		void reset() {
			lingerForNoTime(this.client);
			lingerForNoTime(this.server);
			close();
		}

		private static void lingerForNoTime(Socket socket) {
			try {
				socket.setSoLinger(true, 0);
			}
			catch (IOException ex) {
				// It is closed already
			}
		}

		void close() {
			this.closed = true;
			closeQuietly(this.client);
			closeQuietly(this.server);
		}

	}

}
