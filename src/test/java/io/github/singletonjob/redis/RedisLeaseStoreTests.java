package io.github.singletonjob.redis;

import io.github.singletonjob.contract.LeaseStoreContract;
import io.github.singletonjob.contract.Outage;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.servers.RedisServer;
import io.github.singletonjob.servers.ServerImage;
import io.github.singletonjob.servers.SharedServers;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract, kept in Redis.
 */
class RedisLeaseStoreTests extends LeaseStoreContract {

	private static int port;

	/**
	 * The first connection of a JVM loads the client, which may take longer than a call.
	 */
	@BeforeAll
	static void connectPatiently() {
		port = SharedServers.port(ServerImage.REDIS, () -> RedisServer.shared().port());
		try (RedisLeaseStore store = Stores.open(port)) {
			store.release(Stores.acquire(store, Stores.job("first")));
		}
	}

	@Override
	protected LeaseStore openInstance() {
		return Stores.open(port);
	}

	@Override
	protected StoreTraits traits() {
		return Stores.TRAITS;
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

		private final RedisLeaseStore store;

		ProxyOutage(TcpProxy proxy) {
			this.proxy = proxy;
			this.store = Stores.open(proxy.port());
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
