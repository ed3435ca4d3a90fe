package io.github.singletonjob.autoconfigure;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.etcd.jetcd.Client;
import io.github.singletonjob.autoconfigure.SingletonJobProperties.Etcd;
import io.github.singletonjob.autoconfigure.SingletonJobProperties.Tls;
import io.github.singletonjob.etcd.EtcdConnection;
import io.github.singletonjob.etcd.EtcdEndpoints;
import io.github.singletonjob.etcd.EtcdLeaseStore;
import io.github.singletonjob.etcd.EtcdTls;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.UnusableStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The store in etcd.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnStore(StoreType.ETCD)
@ConditionalOnClass(name = "io.etcd.jetcd.Client")
class EtcdStoreConfiguration {

	/** Closed by the engine, which knows when no body runs any more. */
	@Bean(destroyMethod = "")
	@ConditionalOnMissingBean(LeaseStore.class)
	PreparedStore singletonJobLeaseStore(SingletonJobProperties properties, JobSettings settings,
			ObjectProvider<Client> clients) {
		EtcdConnection connection = connection(properties.etcd(), clients);
		EtcdLeaseStore store = new EtcdLeaseStore(connection, properties.etcd().prefix());
		return new PreparedStore(store,
				new Preparation("The etcd of the lease store", List.of(() -> store.probe(settings.namespace()))));
	}

	private static EtcdConnection connection(Etcd etcd, ObjectProvider<Client> clients) {
		if (!etcd.endpoints().isEmpty()) {
			return ownConnection(etcd);
		}
		Client client = clients.getIfUnique();
		if (client == null) {
			throw new NoLeaseStoreException(StoreType.ETCD);
		}
		return EtcdConnection.of(client);
	}

	private static EtcdConnection ownConnection(Etcd etcd) {
		try {
			return EtcdConnection
				.to(new EtcdEndpoints(etcd.endpoints(), etcd.user(), etcd.password(), tls(etcd.tls())));
		}
		catch (IllegalArgumentException ex) {
			throw new UnusableStoreException(
					"The connection to etcd cannot be made as it is configured: " + ex.getMessage(),
					"Correct singleton-job.etcd", ex);
		}
	}

	private static @Nullable EtcdTls tls(Tls tls) {
		boolean given = Stream.<@Nullable Path>of(tls.ca(), tls.certificate(), tls.key()).anyMatch(Objects::nonNull);
		return given ? new EtcdTls(tls.ca(), tls.certificate(), tls.key()) : null;
	}

}
