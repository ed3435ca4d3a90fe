package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/**
 * Sends and receives text over a loopback connection.
 */
final class ProxyClient implements AutoCloseable {

	private static final int TIMEOUT_MILLIS = 5000;

	private static final int SILENCE_MILLIS = 150;

	private final Socket socket;

	ProxyClient(int port) throws IOException {
		this.socket = new Socket(Ports.LOOPBACK, port);
		this.socket.setSoTimeout(TIMEOUT_MILLIS);
		this.socket.setTcpNoDelay(true);
	}

	void send(String text) {
		try {
			this.socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Less than asked for only if the other end has ended. */
	String receive(int count) throws IOException {
		return new String(this.socket.getInputStream().readNBytes(count), StandardCharsets.US_ASCII);
	}

	boolean hearsNothing() throws IOException {
		this.socket.setSoTimeout(SILENCE_MILLIS);
		try {
			this.socket.getInputStream().read();
			return false;
		}
		catch (SocketTimeoutException ex) {
			return true;
		}
		finally {
			this.socket.setSoTimeout(TIMEOUT_MILLIS);
		}
	}

	void endOutput() throws IOException {
		this.socket.shutdownOutput();
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
