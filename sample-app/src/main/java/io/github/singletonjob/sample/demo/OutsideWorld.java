package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

import com.sun.net.httpserver.HttpServer;

/**
 * The card network and the mail provider. They live in the launcher, so that they outlast
 * a server that is frozen or killed.
 */
final class OutsideWorld implements ServerSettings, AutoCloseable {

	private static final String CARD_NETWORK = "/card-network";

	private static final String MAIL_PROVIDER = "/mail-provider";

	private final RememberedRequests charges = new RememberedRequests("payment");

	private final RememberedRequests mails = new RememberedRequests("mail");

	private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(4);

	private final HttpServer http;

	private OutsideWorld(HttpServer http) {
		this.http = http;
	}

	/**
	 * Opens both services on a free port of the loopback address.
	 * @param chargeDelay how long a charge takes
	 * @param mailDelay how long a mail takes
	 * @return the running services
	 */
	static OutsideWorld open(Duration chargeDelay, Duration mailDelay) {
		// The server sends header and body apart, and would wait for the acknowledgement
		// of
		// the first, some 40 ms, before it sends the second.
		System.setProperty("sun.net.httpserver.nodelay", "true");
		try {
			HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
			OutsideWorld world = new OutsideWorld(http);
			world.offer(CARD_NETWORK + "/charges", world.charges, chargeDelay);
			world.offer(MAIL_PROVIDER + "/mails", world.mails, mailDelay);
			http.setExecutor(world.threads);
			http.start();
			return world;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The card network found no port to listen on", ex);
		}
	}

	private void offer(String path, RememberedRequests memory, Duration delay) {
		this.http.createContext(path, new SlowService(memory, delay, this.threads));
	}

	URI cardNetwork() {
		return address(CARD_NETWORK);
	}

	URI mailProvider() {
		return address(MAIL_PROVIDER);
	}

	private URI address(String path) {
		InetSocketAddress address = this.http.getAddress();
		return URI.create("http://" + address.getAddress().getHostAddress() + ":" + address.getPort() + path);
	}

	@Override
	public Map<String, String> settings() {
		return Map.of("COMPANY_OUTSIDE_CARDNETWORK", cardNetwork().toString(), "COMPANY_OUTSIDE_MAILPROVIDER",
				mailProvider().toString());
	}

	/**
	 * What the services have seen so far.
	 * @return a sentence
	 */
	String describe() {
		return "card network: %d charges, %d repetitions recognised; mail provider: %d mails, %d repetitions recognised"
			.formatted(this.charges.effects(), this.charges.repetitions(), this.mails.effects(),
					this.mails.repetitions());
	}

	@Override
	public void close() {
		this.http.stop(0);
		this.threads.shutdownNow();
	}

}
