package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/**
 * Ports of the loopback address.
 */
final class Ports {

	private Ports() {
	}

	/**
	 * Looks for a port on which nobody listens.
	 * @return the port
	 */
	static int free() {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("No free port for a server", ex);
		}
	}

}
