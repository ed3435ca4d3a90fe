package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;

/**
 * A service that has its effect at once and takes its time to answer: whoever is frozen
 * while waiting does not know whether it has happened.
 */
final class SlowService implements HttpHandler {

	private final RememberedRequests memory;

	private final Duration delay;

	private final ScheduledExecutorService threads;

	SlowService(RememberedRequests memory, Duration delay, ScheduledExecutorService threads) {
		this.memory = memory;
		this.delay = delay;
		this.threads = threads;
	}

	@Override
	public void handle(HttpExchange exchange) throws IOException {
		String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
		String request = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
		if (key == null) {
			reply(exchange, 400, "{\"error\": \"Idempotency-Key is missing\"}");
			return;
		}
		RememberedRequests.Answer answer = this.memory.answer(key, request);
		var unused = this.threads.schedule(() -> reply(exchange, answer), this.delay.toMillis(), TimeUnit.MILLISECONDS);
	}

	private void reply(HttpExchange exchange, RememberedRequests.Answer answer) {
		try {
			switch (answer.kind()) {
				case EXECUTED, REPEATED -> reply(exchange, 200, "{\"reference\": \"" + answer.text() + "\"}");
				case MISUSED -> reply(exchange, 422, "{\"error\": \"" + answer.text() + "\"}");
			}
		}
		catch (IOException ex) {
			// The caller is gone; it will ask again.
			exchange.close();
		}
	}

	private void reply(HttpExchange exchange, int status, String json) throws IOException {
		byte[] body = json.getBytes(StandardCharsets.UTF_8);
		exchange.getResponseHeaders().set("Content-Type", "application/json");
		exchange.sendResponseHeaders(status, body.length);
		exchange.getResponseBody().write(body);
		exchange.close();
	}

}
