package io.github.singletonjob.rows;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;

/**
 * Only these entities of the package: others are there to be refused.
 */
@Configuration(proxyBeanMethods = false)
class InvoiceEntities {

	@Bean
	static PersistenceManagedTypes invoiceEntities() {
		return PersistenceManagedTypes.of(Invoice.class.getName(), VersionedInvoice.class.getName(),
				PlainInvoice.class.getName());
	}

}
