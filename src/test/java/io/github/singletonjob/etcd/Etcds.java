package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.PutOption;
import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;

/**
 * Stores on servers of a test, probed as an application does it at start.
 */
final class Etcds {

	static final String PREFIX = "singleton-job/";

	private Etcds() {
	}

	static EtcdLeaseStore store(EtcdServer server) {
		return store(List.of(server.endpoint()));
	}

	static EtcdLeaseStore store(TcpProxy proxy) {
		return store(proxy.port());
	}

	static EtcdLeaseStore store(int port) {
		return store(List.of("127.0.0.1:" + port));
	}

	static EtcdLeaseStore store(List<String> endpoints) {
		EtcdLeaseStore store = unprobed(endpoints);
		store.probe("tests");
		return store;
	}

	static EtcdLeaseStore unprobed(List<String> endpoints) {
		return new EtcdLeaseStore(connection(endpoints), PREFIX);
	}

	static EtcdConnection connection(EtcdServer server) {
		return connection(List.of(server.endpoint()));
	}

	private static EtcdConnection connection(List<String> endpoints) {
		return EtcdConnection.to(new EtcdEndpoints(endpoints, null, null, null));
	}

	/** A request with an owner of its own. */
	static LeaseRequest request(JobId job, Duration ttl, Duration callTimeout) {
		return new LeaseRequest(job, UUID.randomUUID().toString(), "somebody", ttl, callTimeout, 0);
	}

	/** Renews; an unknown outcome is asked for again. */
	static Renewal awaitRenewal(LeaseStore store, LeaseGrant grant) {
		return Awaitility.await()
			.pollInSameThread()
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(50))
			.atMost(Duration.ofSeconds(20))
			.ignoreException(LeaseStoreException.class)
			.until(() -> Instances.renew(store, grant), (answer) -> answer != Renewal.UNKNOWN);
	}

	/** Gives back; an unknown outcome is asked for again. */
	static boolean awaitRelease(LeaseStore store, LeaseGrant grant) {
		return Awaitility.await()
			.pollInSameThread()
			.pollDelay(Duration.ZERO)
			.atMost(Duration.ofSeconds(20))
			.ignoreException(LeaseStoreException.class)
			.until(() -> store.release(grant), (answer) -> true);
	}

	/** The key of a job that is held. */
	static String keyOf(JobId job) {
		return new KeyNames(PREFIX).lease(job);
	}

	/** What the keys of all held jobs of the namespace begin with. */
	static String keysOf(JobId job) {
		return new KeyNames(PREFIX).leases(job.namespace());
	}

	static KeyValue get(EtcdServer server, String key) throws Exception {
		try (Client client = Client.builder().endpoints(server.endpoint()).build()) {
			return client.getKVClient().get(KeyNames.bytes(key)).get(10, TimeUnit.SECONDS).getKvs().get(0);
		}
	}

	/** Writes a key that is attached to a lease, as a late request would. */
	static void putAttached(EtcdServer server, String key, String value, long lease) throws Exception {
		try (Client client = Client.builder().endpoints(server.endpoint()).build()) {
			client.getKVClient()
				.put(KeyNames.bytes(key), KeyNames.bytes(value), PutOption.builder().withLeaseId(lease).build())
				.get(10, TimeUnit.SECONDS);
		}
	}

}
