package io.github.singletonjob.sample.company.billing;

import java.util.Objects;

import io.github.singletonjob.IdempotencyKey;
import io.github.singletonjob.sample.company.OutsideServices;

import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * The card network, which takes the money from the customers. It answers a key that it
 * knows as it did the first time, without taking money again.
 */
@Component
class CardNetwork {

	private final RestClient http;

	CardNetwork(OutsideServices services) {
		this.http = services.cardNetworkClient();
	}

	/**
	 * Charges a customer.
	 * @param invoice what the customer owes
	 * @param key names this charge
	 * @return the network's reference for the payment
	 */
	String charge(Invoice invoice, IdempotencyKey key) {
		Receipt receipt = this.http.post()
			.uri("/charges")
			.header("Idempotency-Key", key.value())
			.body(new Order(invoice.getCustomerId(), invoice.getAmountCents()))
			.retrieve()
			.body(Receipt.class);
		return Objects.requireNonNull(receipt, "The card network sent no receipt").reference();
	}

	/**
	 * What the network is asked for.
	 */
	record Order(long customer, long cents) {
	}

	/**
	 * What the network answers.
	 */
	record Receipt(String reference) {
	}

}
