package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds free loopback ports. They lie below the range from which the kernel takes the
 * local ports of outgoing connections: a server that is down for a while then gets its
 * port back, and a client that keeps trying to reach it can never connect to itself. The
 * JVMs among which a build divides its tests have a part of them each, so that none takes
 * the port of another's server that is down, and within a JVM none is found twice. Those
 * that are higher by 10,000 belong to Redis Cluster, for the same ports.
 */
final class Ports {

	static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

	private static final int LOWEST = 10000;

	private static final int BEYOND_HIGHEST = 20000;

	private static final int PARTS = 5;

	private static final int SIZE_OF_PART = (BEYOND_HIGHEST - LOWEST) / PARTS;

	/** Processes that tests start have no number, and so the first part. */
	private static final int OWN = LOWEST + Integer.getInteger("servers.jvm", 0) % PARTS * SIZE_OF_PART;

	private static final int ATTEMPTS = 1000;

	/** Also of servers that are down, or not up yet. */
	private static final Set<Integer> TAKEN = ConcurrentHashMap.newKeySet();

	private Ports() {
	}

	static int free() {
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			int port = ThreadLocalRandom.current().nextInt(OWN, OWN + SIZE_OF_PART);
			if (TAKEN.add(port) && isFree(port)) {
				return port;
			}
		}
		throw new IllegalStateException("No free port between %d and %d".formatted(OWN, OWN + SIZE_OF_PART));
	}

	static InetSocketAddress at(int port) {
		return new InetSocketAddress(LOOPBACK, port);
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket()) {
			socket.bind(at(port));
			return true;
		}
		catch (BindException ex) {
			return false;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
