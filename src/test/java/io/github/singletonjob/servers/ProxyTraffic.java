package io.github.singletonjob.servers;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What has gone through a {@link TcpProxy}.
 */
final class ProxyTraffic {

	private final AtomicInteger connections = new AtomicInteger();

	private final AtomicInteger roundTrips = new AtomicInteger();

	private final AtomicLong toServer = new AtomicLong();

	private final AtomicLong toClients = new AtomicLong();

	void countConnection() {
		this.connections.incrementAndGet();
	}

	int connections() {
		return this.connections.get();
	}

	void countRoundTrip() {
		this.roundTrips.incrementAndGet();
	}

	int roundTrips() {
		return this.roundTrips.get();
	}

	AtomicLong toServer() {
		return this.toServer;
	}

	AtomicLong toClients() {
		return this.toClients;
	}

}
