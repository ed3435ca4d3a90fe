package io.github.singletonjob.sample.company.statements;

import io.github.singletonjob.IdempotencyKey;
import io.github.singletonjob.sample.company.OutsideServices;

import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * The mail provider. It sends nothing for a key that it knows.
 */
@Component
class MailProvider {

	private final RestClient http;

	MailProvider(OutsideServices services) {
		this.http = services.mailProviderClient();
	}

	/**
	 * Mails a statement.
	 * @param statement the statement
	 * @param key names this mail
	 */
	void send(Statement statement, IdempotencyKey key) {
		this.http.post()
			.uri("/mails")
			.header("Idempotency-Key", key.value())
			.body(statement)
			.retrieve()
			.toBodilessEntity();
	}

}
