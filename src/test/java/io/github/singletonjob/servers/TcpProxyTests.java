package io.github.singletonjob.servers;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The proxy, in front of a {@link DoublingServer}.
 */
class TcpProxyTests {

	private DoublingServer server;

	private TcpProxy proxy;

	@BeforeEach
	void start() throws IOException {
		this.server = new DoublingServer();
		this.proxy = TcpProxy.to(this.server.port());
	}

	@AfterEach
	void stop() throws IOException {
		this.proxy.close();
		this.server.close();
	}

	@Test
	void passesAndCounts() throws IOException {
		try (ProxyClient client = connect()) {
			client.send("abc");
			assertThat(client.receive(6)).isEqualTo("aabbcc");
		}
		assertThat(this.proxy.connections()).isEqualTo(1);
		assertThat(this.proxy.bytesToServer()).isEqualTo(3);
		assertThat(this.proxy.bytesToClients()).isEqualTo(6);
		Waits.until("both ends closed", Duration.ofSeconds(5), () -> this.proxy.openConnections() == 0);
	}

	@Test
	void handsOnTheEndOfOneDirection() throws IOException {
		try (ProxyClient client = connect()) {
			client.send("x");
			client.endOutput();
			assertThat(client.receive(100)).isEqualTo("xx");
		}
	}

	@Test
	void hangHoldsBothWaysAndDeliversLater() throws IOException {
		assertHeldUntilPassing(this.proxy::hang, 1, 2);
	}

	@Test
	void hangReachesNewConnections() throws IOException {
		this.proxy.hang();
		try (ProxyClient client = connect()) {
			client.send("a");
			assertThat(client.hearsNothing()).isTrue();
			assertThat(this.proxy.connections()).isZero();
			this.proxy.pass();
			assertThat(client.receive(2)).isEqualTo("aa");
		}
	}

	@Test
	void hangRepliesLetsTheRequestArrive() throws IOException {
		assertHeldUntilPassing(this.proxy::hangReplies, 2, 2);
	}

	@Test
	void hangRequestsHoldsThem() throws IOException {
		assertHeldUntilPassing(this.proxy::hangRequests, 1, 2);
	}

	@Test
	void tellsWhenARequestIsHeld() throws IOException {
		try (ProxyClient client = connectAndUse()) {
			this.proxy.hangRequests();
			assertThatExceptionOfType(ConditionTimeoutException.class)
				.isThrownBy(() -> this.proxy.awaitHeldRequest(Duration.ofMillis(200)));
			client.send("a");
			this.proxy.awaitHeldRequest(Duration.ofSeconds(5));
			this.proxy.pass();
			assertThat(client.receive(2)).isEqualTo("aa");
			assertThatExceptionOfType(ConditionTimeoutException.class)
				.isThrownBy(() -> this.proxy.awaitHeldRequest(Duration.ofMillis(200)));
		}
	}

	@Test
	void resetEndsConnectionsAlsoWhileTheyHang() throws IOException {
		try (ProxyClient client = connectAndUse()) {
			this.proxy.hang();
			this.proxy.reset();
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> client.receive(1))
				.withMessageContaining("reset");
		}
		assertThat(this.proxy.openConnections()).isZero();
		this.proxy.pass();
		connectAndUse().close();
	}

	@Test
	void refusesNewConnectionsOnly() throws IOException {
		try (ProxyClient client = connectAndUse()) {
			this.proxy.refuse();
			assertThatExceptionOfType(ConnectException.class).isThrownBy(this::connectAndUse);
			client.send("a");
			assertThat(client.receive(2)).isEqualTo("aa");
			this.proxy.pass();
			connectAndUse().close();
		}
	}

	@Test
	void resetsTheClientWhenNoServerListens() throws IOException {
		try (TcpProxy toNobody = TcpProxy.to(Ports.free()); ProxyClient client = new ProxyClient(toNobody.port())) {
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> client.receive(1));
		}
	}

	@Test
	void delayIsLatencyNotThroughput() throws IOException {
		try (ProxyClient client = connect()) {
			this.proxy.delay(Duration.ofMillis(100));
			long start = System.nanoTime();
			StringBuilder expected = new StringBuilder();
			for (int i = 0; i < 50; i++) {
				String text = Character.toString('a' + i % 26);
				client.send(text);
				expected.append(text).append(text);
			}
			assertThat(client.receive(100)).isEqualTo(expected.toString());
			// One after the other they would take ten seconds
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(200),
					Duration.ofSeconds(3));
		}
	}

	@Test
	void moreThanAllBuffersHoldGetsThrough() throws IOException {
		int size = 20_000_000;
		try (ProxyClient client = connect()) {
			CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> client.send("x".repeat(size)));
			assertThat(client.receive(2 * size)).hasSize(2 * size);
			assertThat(sent).succeedsWithin(Duration.ofSeconds(5));
		}
	}

	private void assertHeldUntilPassing(Runnable fault, long bytesToServer, long bytesToClients) throws IOException {
		try (ProxyClient client = connectAndUse()) {
			fault.run();
			client.send("a");
			assertThat(client.hearsNothing()).isTrue();
			assertThat(this.proxy.bytesToServer()).isEqualTo(bytesToServer);
			assertThat(this.proxy.bytesToClients()).isEqualTo(bytesToClients);
			this.proxy.pass();
			assertThat(client.receive(2)).isEqualTo("aa");
		}
	}

	private ProxyClient connect() throws IOException {
		return new ProxyClient(this.proxy.port());
	}

	/** A connection that has been used: one byte went there and two came back. */
	private ProxyClient connectAndUse() throws IOException {
		ProxyClient client = connect();
		client.send("-");
		assertThat(client.receive(2)).isEqualTo("--");
		return client;
	}

}
