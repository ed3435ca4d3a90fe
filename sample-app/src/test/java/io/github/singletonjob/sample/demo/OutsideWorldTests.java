package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class OutsideWorldTests {

	private static final Duration DELAY = Duration.ofMillis(50);

	private final OutsideWorld world = OutsideWorld.open(DELAY, Duration.ZERO);

	private final HttpClient http = HttpClient.newHttpClient();

	@AfterEach
	void close() {
		this.world.close();
	}

	@Test
	void isOnTheLoopbackAddress() {
		assertThat(this.world.cardNetwork().getHost()).isEqualTo("127.0.0.1");
	}

	@Test
	void chargesOnceForEachKeyAndTakesItsTime() throws Exception {
		long start = System.nanoTime();
		HttpResponse<String> first = post(this.world.cardNetwork() + "/charges", "key", "{}");
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(DELAY);
		HttpResponse<String> second = post(this.world.cardNetwork() + "/charges", "key", "{}");
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(first.body()).isEqualTo("{\"reference\": \"payment-1\"}");
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(this.world.describe()).startsWith("card network: 1 charges, 1 repetitions recognised");
	}

	@Test
	void mailsAndChargesHaveMemoriesOfTheirOwn() throws Exception {
		post(this.world.cardNetwork() + "/charges", "key", "{}");
		post(this.world.mailProvider() + "/mails", "key", "{}");
		assertThat(this.world.describe()).isEqualTo("card network: 1 charges, 0 repetitions recognised;"
				+ " mail provider: 1 mails, 0 repetitions recognised");
	}

	@Test
	void refusesRequestsWithoutKeyAndMisusedKeys() throws Exception {
		HttpRequest keyless = HttpRequest.newBuilder(URI.create(this.world.mailProvider() + "/mails"))
			.POST(BodyPublishers.ofString("{}"))
			.build();
		assertThat(this.http.send(keyless, BodyHandlers.ofString()).statusCode()).isEqualTo(400);
		post(this.world.mailProvider() + "/mails", "key", "{}");
		assertThat(post(this.world.mailProvider() + "/mails", "key", "{\"other\": 1}").statusCode()).isEqualTo(422);
	}

	private HttpResponse<String> post(String address, String key, String body)
			throws IOException, InterruptedException {
		return this.http.send(HttpRequest.newBuilder(URI.create(address))
			.header("Idempotency-Key", key)
			.POST(BodyPublishers.ofString(body))
			.build(), BodyHandlers.ofString());
	}

}
