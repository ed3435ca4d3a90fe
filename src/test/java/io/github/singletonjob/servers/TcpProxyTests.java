package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The proxy in front of a server that sends back what it gets, with every byte doubled.
 */
class TcpProxyTests {

	private static final int SILENCE_MILLIS = 150;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private ServerSocket server;

	private TcpProxy proxy;

	@BeforeEach
	void start() throws IOException {
		this.server = new ServerSocket();
		this.server.bind(Ports.at(Ports.free()));
		this.threads.execute(this::serve);
		this.proxy = TcpProxy.to(this.server.getLocalPort());
	}

	@AfterEach
	void stop() throws IOException {
		this.proxy.close();
		this.server.close();
		this.threads.shutdownNow();
	}

	@Test
	void passesAndCounts() throws IOException {
		try (Socket client = connect()) {
			send(client, "abc");
			assertThat(receive(client, 6)).isEqualTo("aabbcc");
		}
		assertThat(this.proxy.connections()).isEqualTo(1);
		assertThat(this.proxy.bytesToServer()).isEqualTo(3);
		assertThat(this.proxy.bytesToClients()).isEqualTo(6);
		Waits.until("both ends closed", Duration.ofSeconds(5), () -> this.proxy.openConnections() == 0);
	}

	@Test
	void handsOnTheEndOfOneDirection() throws IOException {
		try (Socket client = connect()) {
			send(client, "x");
			client.shutdownOutput();
			assertThat(new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)).isEqualTo("xx");
		}
	}

	@Test
	void hangHoldsBothWaysAndDeliversLater() throws IOException {
		try (Socket client = connectAndUse()) {
			this.proxy.hang();
			send(client, "a");
			assertSilent(client);
			assertThat(this.proxy.bytesToServer()).isEqualTo(1);
			this.proxy.pass();
			assertThat(receive(client, 2)).isEqualTo("aa");
		}
	}

	@Test
	void hangReachesNewConnections() throws IOException {
		this.proxy.hang();
		try (Socket client = new Socket(Ports.LOOPBACK, this.proxy.port())) {
			send(client, "a");
			assertSilent(client);
			assertThat(this.proxy.connections()).isZero();
			this.proxy.pass();
			assertThat(receive(client, 2)).isEqualTo("aa");
		}
	}

	@Test
	void hangRepliesLetsTheRequestArrive() throws IOException {
		try (Socket client = connectAndUse()) {
			this.proxy.hangReplies();
			send(client, "a");
			assertSilent(client);
			assertThat(this.proxy.bytesToServer()).isEqualTo(2);
			assertThat(this.proxy.bytesToClients()).isEqualTo(2);
			this.proxy.pass();
			assertThat(receive(client, 2)).isEqualTo("aa");
		}
	}

	@Test
	void hangRequestsHoldsThem() throws IOException {
		try (Socket client = connectAndUse()) {
			this.proxy.hangRequests();
			send(client, "a");
			assertSilent(client);
			assertThat(this.proxy.bytesToServer()).isEqualTo(1);
			this.proxy.pass();
			assertThat(receive(client, 2)).isEqualTo("aa");
		}
	}

	@Test
	void resetEndsConnectionsAlsoWhileTheyHang() throws IOException {
		try (Socket client = connectAndUse()) {
			this.proxy.hang();
			this.proxy.reset();
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> client.getInputStream().read())
				.withMessageContaining("reset");
		}
		assertThat(this.proxy.openConnections()).isZero();
		this.proxy.pass();
		connectAndUse().close();
	}

	@Test
	void refusesNewConnectionsOnly() throws IOException {
		try (Socket client = connectAndUse()) {
			this.proxy.refuse();
			assertThatExceptionOfType(ConnectException.class).isThrownBy(this::connectAndUse);
			send(client, "a");
			assertThat(receive(client, 2)).isEqualTo("aa");
			this.proxy.pass();
			connectAndUse().close();
		}
	}

	@Test
	void resetsTheClientWhenNoServerListens() throws IOException {
		this.server.close();
		try (Socket client = new Socket(Ports.LOOPBACK, this.proxy.port())) {
			client.setSoTimeout(5000);
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> client.getInputStream().read());
		}
	}

	@Test
	void delayIsLatencyNotThroughput() throws IOException {
		try (Socket client = connect()) {
			this.proxy.delay(Duration.ofMillis(100));
			long start = System.nanoTime();
			StringBuilder expected = new StringBuilder();
			for (int i = 0; i < 50; i++) {
				String text = Character.toString('a' + i % 26);
				send(client, text);
				expected.append(text).append(text);
			}
			assertThat(receive(client, 100)).isEqualTo(expected.toString());
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(200),
					Duration.ofMillis(600));
		}
	}

	@Test
	void moreThanAllBuffersHoldGetsThrough() throws IOException {
		int size = 20_000_000;
		try (Socket client = connect()) {
			this.threads.execute(() -> write(client, new byte[size]));
			assertThat(client.getInputStream().readNBytes(2 * size)).hasSize(2 * size);
		}
	}

	private Socket connect() throws IOException {
		Socket client = new Socket(Ports.LOOPBACK, this.proxy.port());
		client.setSoTimeout(5000);
		client.setTcpNoDelay(true);
		return client;
	}

	/** A connection that has been used: one byte went there and two came back. */
	private Socket connectAndUse() throws IOException {
		Socket client = connect();
		send(client, "-");
		assertThat(receive(client, 2)).isEqualTo("--");
		return client;
	}

	private void serve() {
		try {
			while (true) {
				Socket socket = this.server.accept();
				this.threads.execute(() -> echo(socket));
			}
		}
		catch (IOException ex) {
			// closed
		}
	}

	private void echo(Socket socket) {
		byte[] buffer = new byte[8192];
		try (socket; InputStream input = socket.getInputStream()) {
			for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
				byte[] doubled = new byte[2 * count];
				for (int i = 0; i < doubled.length; i++) {
					doubled[i] = buffer[i / 2];
				}
				socket.getOutputStream().write(doubled);
			}
		}
		catch (IOException ex) {
			// reset
		}
	}

	private static void assertSilent(Socket client) throws IOException {
		client.setSoTimeout(SILENCE_MILLIS);
		assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> client.getInputStream().read());
		client.setSoTimeout(5000);
	}

	private static void send(Socket client, String text) {
		write(client, text.getBytes(StandardCharsets.US_ASCII));
	}

	private static void write(Socket client, byte[] bytes) {
		try {
			client.getOutputStream().write(bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String receive(Socket client, int count) throws IOException {
		return new String(client.getInputStream().readNBytes(count), StandardCharsets.US_ASCII);
	}

}
