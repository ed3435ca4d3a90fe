package io.github.singletonjob.postgres;

import java.time.Duration;

import io.github.singletonjob.contract.LeaseStoreContract;
import io.github.singletonjob.contract.Outage;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.servers.ServerImage;
import io.github.singletonjob.servers.SharedServers;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract, kept in Postgres.
 */
class PostgresLeaseStoreTests extends LeaseStoreContract {

	private static int port;

	private static String url;

	@BeforeAll
	static void createDatabase() {
		port = SharedServers.port(ServerImage.POSTGRES, () -> Databases.server().port());
		url = Databases.createAt(port, "contract");
	}

	@Override
	protected LeaseStore openInstance() {
		return Databases.store(url);
	}

	@Override
	protected StoreTraits traits() {
		return new StoreTraits(Duration.ofSeconds(2), Duration.ofSeconds(1), Duration.ofSeconds(2));
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

		private final PostgresLeaseStore store;

		ProxyOutage(TcpProxy proxy) {
			this.proxy = proxy;
			this.store = Databases.store(proxy.through(url));
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
