package io.github.singletonjob.servers;

import java.time.Duration;

/**
 * A loopback port that leads to another one, with faults on demand. Each switch is in
 * effect when its method returns, and counts for open and for new connections. One thread
 * serves them all.
 */
public final class TcpProxy implements AutoCloseable {

	private final ProxyLoop loop;

	private TcpProxy(ProxyLoop loop) {
		this.loop = loop;
	}

	/**
	 * Starts a proxy that passes everything.
	 * @param targetPort the loopback port to which it leads
	 * @return the proxy
	 */
	public static TcpProxy to(int targetPort) {
		return new TcpProxy(ProxyLoop.start(targetPort));
	}

	/**
	 * Leads a URL through this proxy.
	 * @param url with a host and a port, as in
	 * {@code jdbc:postgresql://127.0.0.1:5432/db}
	 * @return the URL with the port of this proxy
	 */
	public String through(String url) {
		return url.replaceFirst("//([^:/]+):\\d+", "//$1:" + port());
	}

	public int port() {
		return this.loop.port();
	}

	/** Ends every fault; bytes that were held are delivered. */
	public void pass() {
		set(ProxyState.PASS);
	}

	/** Cuts the network without a sign: all stays open, nothing gets through. */
	public void hang() {
		set(new ProxyState(true, true, true, Duration.ZERO));
	}

	/** Requests arrive, their replies are held. */
	public void hangReplies() {
		set(new ProxyState(true, false, true, Duration.ZERO));
	}

	/** Requests are held, what the server sends arrives. */
	public void hangRequests() {
		set(new ProxyState(true, true, false, Duration.ZERO));
	}

	/**
	 * Lets every byte arrive later, in order, and each as much later however many are
	 * under way: a round trip takes twice as long.
	 * @param oneWay how much later
	 */
	public void delay(Duration oneWay) {
		set(new ProxyState(true, false, false, oneWay));
	}

	/** Refuses new connections until the next switch; open ones pass. */
	public void refuse() {
		set(new ProxyState(false, false, false, Duration.ZERO));
	}

	/**
	 * Leads to another port from here on; ends all open connections with a RST.
	 * @param targetPort the loopback port
	 */
	public void leadTo(int targetPort) {
		this.loop.call(() -> this.loop.leadTo(targetPort));
	}

	/** Ends all open connections with a RST; bytes that were held are lost. */
	public void reset() {
		this.loop.call(this.loop::resetLinks);
	}

	/** Ends all open connections in an orderly way; bytes that were held are lost. */
	public void end() {
		this.loop.call(this.loop::endLinks);
	}

	/**
	 * How many connections there were.
	 * @return open and closed ones
	 */
	public int connections() {
		return this.loop.traffic().connections();
	}

	public int openConnections() {
		return this.loop.openLinks();
	}

	/**
	 * How often a client has waited for the server: requests that were sent without
	 * waiting for the answers to earlier ones count together.
	 * @return over all connections
	 */
	public int roundTrips() {
		return this.loop.traffic().roundTrips();
	}

	/**
	 * How many bytes have been delivered to the server.
	 * @return over all connections
	 */
	public long bytesToServer() {
		return this.loop.traffic().toServer().get();
	}

	/**
	 * How many bytes have been delivered to the clients.
	 * @return over all connections
	 */
	public long bytesToClients() {
		return this.loop.traffic().toClients().get();
	}

	/** Ends all connections with a RST, and the proxy. */
	@Override
	public void close() {
		this.loop.close();
	}

	private void set(ProxyState state) {
		this.loop.call(() -> this.loop.set(state));
	}

}
