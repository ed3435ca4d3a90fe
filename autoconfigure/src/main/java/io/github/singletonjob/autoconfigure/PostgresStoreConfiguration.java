package io.github.singletonjob.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.postgres.PostgresLeaseStore;
import io.github.singletonjob.postgres.PostgresSchema;
import io.github.singletonjob.postgres.SessionSource;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The store in Postgres.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnStore(StoreType.POSTGRES)
@ConditionalOnClass(name = "org.postgresql.Driver")
class PostgresStoreConfiguration {

	/**
	 * Prepared after Flyway and its like, which would refuse a schema that is not empty.
	 * Closed by the engine, which knows when no body runs any more.
	 */
	@Bean(destroyMethod = "")
	@ConditionalOnMissingBean(LeaseStore.class)
	@DependsOnDatabaseInitialization
	PreparedStore singletonJobLeaseStore(SingletonJobProperties properties,
			@SingletonJobDataSource ObjectProvider<DataSource> own, BeanFactory beanFactory) {
		SessionSource source = StoreConnections.find(own, beanFactory);
		if (source == null) {
			throw new NoLeaseStoreException(StoreType.POSTGRES);
		}
		PostgresLeaseStore store = new PostgresLeaseStore(source, "singleton-job " + HolderName.of(properties));
		List<Runnable> steps = new ArrayList<>();
		if (properties.jdbc().initializeSchema() == SchemaInitialization.ALWAYS) {
			steps.add(new PostgresSchema(source)::initialize);
		}
		steps.add(store::probe);
		return new PreparedStore(store, new Preparation("The Postgres of the lease store", steps));
	}

}
