package io.github.singletonjob.sample.demo;

import javax.sql.DataSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * Creates the company's tables and its customers.
 */
final class CompanyData {

	private CompanyData() {
	}

	static void create(DataSource database, int customers) {
		new ResourceDatabasePopulator(new ClassPathResource("schema.sql")).execute(database);
		JdbcClient.create(database).sql("""
				insert into customer (id, name, email, monthly_cents)
				select n, 'Customer ' || n, 'customer-' || n || '@mail.example', 500 + 100 * (n % 20)
				from generate_series(1, :customers) n
				""").param("customers", customers).update();
	}

}
