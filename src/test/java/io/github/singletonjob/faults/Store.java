package io.github.singletonjob.faults;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.RedisServer;

/**
 * Where the servers of a company have their leases.
 *
 * @param name the value of {@code singleton-job.store}
 * @param connection how to reach it, empty if it is the company's own database
 * @param killed how soon a killed holder is followed
 * @param frozen how soon a frozen holder is followed
 */
record Store(String name, List<String> connection, Duration killed, Duration frozen) {

	static Stream<Store> all() {
		Duration expired = BillingCompany.TTL.plusSeconds(1);
		// etcd ends a lease of 2 s up to a quarter of a second later
		Duration expiredLate = BillingCompany.TTL.plusMillis(1500);
		return Stream.of(new Store("postgres", List.of(), Duration.ofMillis(1500), expired),
				new Store("redis", List.of("--spring.data.redis.port=" + RedisServer.shared().port()), expired,
						expired),
				new Store("etcd", List.of("--singleton-job.etcd.endpoints=" + EtcdServer.shared().endpoint()),
						expiredLate, expiredLate));
	}

	/**
	 * The arguments with which a server has its leases here, and shares them with the
	 * company's others.
	 */
	String[] arguments(BillingCompany company, String... more) {
		String namespace = company.jdbcUrl().substring(company.jdbcUrl().lastIndexOf('/') + 1);
		Stream<String> own = Stream.of("--singleton-job.store=" + this.name, "--singleton-job.namespace=" + namespace);
		Stream<String> way = this.connection.isEmpty() ? Stream.of("--store.url=" + company.jdbcUrl())
				: this.connection.stream();
		return Stream.of(own, way, Stream.of(more)).flatMap((arguments) -> arguments).toArray(String[]::new);
	}

	@Override
	public String toString() {
		return this.name;
	}

}
