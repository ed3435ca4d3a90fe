package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Sends back what it gets, every byte twice.
 */
final class DoublingServer implements AutoCloseable {

	private final ServerSocket listener;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	DoublingServer() throws IOException {
		this.listener = new ServerSocket();
		this.listener.bind(Ports.at(Ports.free()));
		this.threads.execute(this::serve);
	}

	int port() {
		return this.listener.getLocalPort();
	}

	@Override
	public void close() throws IOException {
		this.listener.close();
		this.threads.shutdownNow();
	}

	private void serve() {
		try {
			while (!this.listener.isClosed()) {
				Socket socket = this.listener.accept();
				this.threads.execute(() -> answer(socket));
			}
		}
		catch (IOException ex) {
			// closed
		}
	}

	private static void answer(Socket socket) {
		byte[] buffer = new byte[8192];
		try (socket; InputStream input = socket.getInputStream()) {
			for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
				socket.getOutputStream().write(doubled(buffer, count));
			}
		}
		catch (IOException ex) {
			// reset
		}
	}

	private static byte[] doubled(byte[] buffer, int count) {
		byte[] doubled = new byte[2 * count];
		for (int i = 0; i < doubled.length; i++) {
			doubled[i] = buffer[i / 2];
		}
		return doubled;
	}

}
