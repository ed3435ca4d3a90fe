package io.github.singletonjob.servers;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Requests to a Docker engine over its socket file, each within a time of its own.
 */
final class DockerSocket {

	private final Path path;

	DockerSocket(Path path) {
		this.path = path;
	}

	/**
	 * Whether the engine agrees, and has said all that it has to say.
	 * @param request method and path
	 * @param atMost when not to wait any longer
	 */
	boolean agrees(String request, Duration atMost) {
		if (!Files.exists(this.path)) {
			return false;
		}
		try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
			CompletableFuture<Void> timer = new CompletableFuture<Void>()
				.completeOnTimeout(null, atMost.toMillis(), TimeUnit.MILLISECONDS)
				.thenRun(() -> close(channel));
			channel.connect(UnixDomainSocketAddress.of(this.path));
			channel.write(StandardCharsets.US_ASCII.encode(request + " HTTP/1.0\r\nHost: docker\r\n\r\n"));
			String reply = readAll(channel);
			timer.cancel(false);
			return reply.matches("(?s)HTTP/1\\.[01] 200 .*");
		}
		catch (IOException ex) {
			return false; // also when its time was over
		}
	}

	private static String readAll(SocketChannel channel) throws IOException {
		ByteArrayOutputStream reply = new ByteArrayOutputStream();
		ByteBuffer buffer = ByteBuffer.allocate(8192);
		while (channel.read(buffer) >= 0) {
			reply.write(buffer.array(), 0, buffer.position());
			buffer.clear();
		}
		return reply.toString(StandardCharsets.UTF_8);
	}

	/** Whoever reads from it gets an exception. */
	private static void close(SocketChannel channel) {
		try {
			channel.close();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
