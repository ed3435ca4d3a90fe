package io.github.singletonjob.servers;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Questions to an engine, and to sockets that only look like one.
 */
class DockerEngineTests {

	private static final String OK = "HTTP/1.0 200 OK\r\n\r\n";

	private static final String NOT_FOUND = "HTTP/1.0 404 Not Found\r\n\r\n";

	private final List<String> requests = new CopyOnWriteArrayList<>();

	private Path path;

	private ServerSocketChannel listener;

	private DockerEngine engine;

	@BeforeEach
	void listen(@TempDir Path directory) throws IOException {
		this.path = directory.resolve("docker.sock");
		this.listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
		this.listener.bind(UnixDomainSocketAddress.of(this.path));
		this.engine = new DockerEngine("unix://" + this.path);
	}

	@AfterEach
	void close() throws IOException {
		this.listener.close();
	}

	@Test
	void answersIfItIsThere() {
		reply((request) -> OK);
		assertThat(this.engine.answers()).isTrue();
		assertThat(this.requests).containsExactly("GET /_ping");
	}

	@Test
	void isNoneWithoutASocket() {
		assertThat(new DockerEngine("unix://" + this.path + "-elsewhere").answers()).isFalse();
	}

	@Test
	void isNoneOverANetwork() {
		assertThat(new DockerEngine("tcp://127.0.0.1:2375").answers()).isFalse();
	}

	@Test
	void isNoneIfNobodyListens() throws IOException {
		this.listener.close();
		assertThat(this.engine.answers()).isFalse();
	}

	@Test
	void isNotWaitedForLong() {
		DockerSocket socket = new DockerSocket(this.path);
		long start = System.nanoTime();
		assertThat(socket.agrees("GET /_ping", Duration.ofMillis(200))).isFalse();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(200),
				Duration.ofSeconds(5));
	}

	@Test
	void isNotAskedToFetchWhatItHas() {
		reply((request) -> OK);
		assertThat(this.engine.obtains(ServerImage.REDIS)).isTrue();
		assertThat(this.requests).containsExactly("GET /images/redis:7.2-alpine/json");
	}

	@Test
	void doesNotHaveWhatItSaysItFetchedUntilItIsThere() {
		reply((request) -> request.startsWith("POST") ? OK : NOT_FOUND);
		assertThat(this.engine.obtains(ServerImage.REDIS)).isFalse();
		assertThat(this.requests).containsExactly("GET /images/redis:7.2-alpine/json",
				"POST /images/create?fromImage=redis&tag=7.2-alpine", "GET /images/redis:7.2-alpine/json");
	}

	private void reply(Function<String, String> replies) {
		Thread thread = new Thread(() -> serve(replies), "engine");
		thread.setDaemon(true);
		thread.start();
	}

	private void serve(Function<String, String> replies) {
		while (true) {
			try (SocketChannel channel = this.listener.accept()) {
				ByteBuffer buffer = ByteBuffer.allocate(1000);
				channel.read(buffer);
				String request = StandardCharsets.US_ASCII.decode(buffer.flip()).toString();
				request = request.substring(0, request.indexOf(" HTTP"));
				this.requests.add(request);
				channel.write(StandardCharsets.US_ASCII.encode(replies.apply(request)));
			}
			catch (IOException ex) {
				return; // the test is over
			}
		}
	}

}
