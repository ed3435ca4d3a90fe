package io.github.singletonjob.servers;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * A client's connection and the one to the server that belongs to it.
 */
final class ProxyLink {

	private final SocketChannel client;

	private final SocketChannel server;

	private final SelectionKey clientKey;

	private final SelectionKey serverKey;

	private final int targetPort;

	private final ProxyFlow requests;

	private final ProxyFlow replies;

	private final ProxyTraffic traffic;

	private boolean answered = true;

	ProxyLink(Selector selector, SocketChannel client, int targetPort, ProxyTraffic traffic) throws IOException {
		this.client = prepare(client);
		this.server = prepare(SocketChannel.open());
		this.clientKey = this.client.register(selector, 0);
		this.serverKey = this.server.register(selector, 0);
		this.targetPort = targetPort;
		this.traffic = traffic;
		this.requests = new ProxyFlow(this.client, this.server, traffic.toServer());
		this.replies = new ProxyFlow(this.server, this.client, traffic.toClients());
	}

	/**
	 * Moves what can be moved now and asks the selector for what cannot.
	 * @return whether the link is still of use
	 */
	boolean pump(ProxyState state, long now) {
		try {
			if (!isConnected()) {
				this.serverKey.interestOps(SelectionKey.OP_CONNECT);
				return true;
			}
			long delay = state.delay().toNanos();
			if (!state.requestsHeld()) {
				pumpRequests(now, delay);
			}
			if (!state.repliesHeld()) {
				pumpReplies(now, delay);
			}
			this.clientKey
				.interestOps(interest(this.requests, state.requestsHeld(), this.replies, state.repliesHeld()));
			this.serverKey
				.interestOps(interest(this.replies, state.repliesHeld(), this.requests, state.requestsHeld()));
			return !isFinished();
		}
		catch (IOException ex) {
			reset();
			return false;
		}
	}

	private void pumpRequests(long now, long delay) throws IOException {
		long before = this.traffic.toServer().get();
		this.requests.pump(now, delay);
		if (this.traffic.toServer().get() > before && this.answered) {
			this.answered = false;
			this.traffic.countRoundTrip();
		}
	}

	private void pumpReplies(long now, long delay) throws IOException {
		long before = this.traffic.toClients().get();
		this.replies.pump(now, delay);
		this.answered |= this.traffic.toClients().get() > before;
	}

	long nanosToNext(ProxyState state, long now) {
		long request = state.requestsHeld() ? Long.MAX_VALUE : this.requests.nanosToNext(now);
		long reply = state.repliesHeld() ? Long.MAX_VALUE : this.replies.nanosToNext(now);
		return Math.min(request, reply);
	}

	void reset() {
		resetQuietly(this.client);
		resetQuietly(this.server);
	}

	void end() {
		closeQuietly(this.client);
		closeQuietly(this.server);
	}

	private boolean isConnected() throws IOException {
		if (this.server.isConnectionPending()) {
			return this.server.finishConnect();
		}
		return this.server.isConnected() || this.server.connect(Ports.at(this.targetPort));
	}

	private boolean isFinished() {
		boolean finished = this.requests.isClosed() && this.replies.isClosed();
		if (finished) {
			closeQuietly(this.client);
			closeQuietly(this.server);
		}
		return finished;
	}

	private static SocketChannel prepare(SocketChannel channel) throws IOException {
		channel.configureBlocking(false);
		channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
		return channel;
	}

	private static int interest(ProxyFlow in, boolean inHeld, ProxyFlow out, boolean outHeld) {
		int read = (!inHeld && in.wantsToRead()) ? SelectionKey.OP_READ : 0;
		int write = (!outHeld && out.wantsToWrite()) ? SelectionKey.OP_WRITE : 0;
		return read | write;
	}

	/** Closing a socket that lingers for no time sends a RST. */
	private static void resetQuietly(SocketChannel channel) {
		try {
			channel.setOption(StandardSocketOptions.SO_LINGER, 0);
		}
		catch (IOException ex) {
			// closed already
		}
		closeQuietly(channel);
	}

	private static void closeQuietly(SocketChannel channel) {
		try {
			channel.close();
		}
		catch (IOException ex) {
			// of no use any more either way
		}
	}

}
