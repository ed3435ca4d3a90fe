package io.github.singletonjob.sample.company;

import java.net.URI;
import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

/**
 * Where the services are that the company calls. No database of ours can fence them: what
 * is sent to them carries an idempotency key.
 *
 * @param cardNetwork the base address of the card network
 * @param mailProvider the base address of the mail provider
 * @param timeout how long a connection and a reply may take
 */
@ConfigurationProperties("company.outside")
public record OutsideServices(URI cardNetwork, URI mailProvider, Duration timeout) {

	/**
	 * A client for the card network.
	 * @return a new client
	 */
	public RestClient cardNetworkClient() {
		return client(this.cardNetwork);
	}

	/**
	 * A client for the mail provider.
	 * @return a new client
	 */
	public RestClient mailProviderClient() {
		return client(this.mailProvider);
	}

	private RestClient client(URI address) {
		// A call without a time-out is a job that may never end. This factory looks for a
		// reply before it looks at the clock: one that came while the process was frozen
		// is not mistaken for a time-out.
		SimpleClientHttpRequestFactory requests = new SimpleClientHttpRequestFactory();
		requests.setConnectTimeout(this.timeout);
		requests.setReadTimeout(this.timeout);
		return RestClient.builder().baseUrl(address).requestFactory(requests).build();
	}

}
