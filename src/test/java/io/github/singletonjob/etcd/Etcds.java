package io.github.singletonjob.etcd;

import java.util.List;

import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.TcpProxy;

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
		return store(List.of("127.0.0.1:" + proxy.port()));
	}

	static EtcdLeaseStore store(List<String> endpoints) {
		EtcdConnection connection = EtcdConnection.to(new EtcdEndpoints(endpoints, null, null, null));
		EtcdLeaseStore store = new EtcdLeaseStore(connection, PREFIX);
		store.probe("tests");
		return store;
	}

}
