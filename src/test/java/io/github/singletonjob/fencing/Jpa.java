package io.github.singletonjob.fencing;

import javax.sql.DataSource;

import jakarta.persistence.EntityManagerFactory;

import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;

/**
 * Hibernate on a data source.
 */
final class Jpa {

	private Jpa() {
	}

	static EntityManagerFactory entityManagers(DataSource dataSource, Class<?> entity) {
		LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
		factory.setDataSource(dataSource);
		factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
		factory.setManagedTypes(PersistenceManagedTypes.of(entity.getName()));
		factory.afterPropertiesSet();
		return factory.getObject();
	}

}
