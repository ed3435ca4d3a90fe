package io.github.singletonjob.etcd;

import java.time.Duration;

import io.github.singletonjob.contract.LeaseStoreContract;
import io.github.singletonjob.contract.Outage;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.ServerImage;
import io.github.singletonjob.servers.SharedServers;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract, kept in etcd.
 */
class EtcdLeaseStoreTests extends LeaseStoreContract {

	private static int port;

	@BeforeAll
	static void startEtcd() {
		port = SharedServers.port(ServerImage.ETCD, () -> {
			EtcdServer.assumeAvailable();
			return EtcdServer.shared().port();
		});
	}

	@Override
	protected LeaseStore openInstance() {
		return Etcds.store(port);
	}

	@Override
	protected StoreTraits traits() {
		return new StoreTraits(Duration.ofSeconds(2), Duration.ofSeconds(2), Duration.ofSeconds(2), false);
	}

	@Override
	protected Outage openOutage() {
		return new ProxyOutage(TcpProxy.to(port));
	}

	/**
	 * The way through a proxy.
	 */
	private static final class ProxyOutage implements Outage {

		private final TcpProxy proxy;

		private final EtcdLeaseStore store;

		ProxyOutage(TcpProxy proxy) {
			this.proxy = proxy;
			this.store = Etcds.store(proxy);
		}

		@Override
		public LeaseStore store() {
			return this.store;
		}

		@Override
		public void cut() {
			this.proxy.hang();
		}

		@Override
		public void cutReplies() {
			this.proxy.hangReplies();
		}

		@Override
		public void restore() {
			this.proxy.pass();
		}

		@Override
		public void close() {
			this.store.close();
			this.proxy.close();
		}

	}

}
