package io.github.singletonjob.autoconfigure;

import javax.sql.DataSource;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A BeanPostProcessor of the application needs the DataSource, which is so created before
 * the one that guards it.
 */
@Timeout(120)
class EarlyDataSourceTests {

	@Test
	void aStaleRunCannotCommitAlsoWhereTheDataSourceWasCreatedEarly() {
		String url = PostgresServer.shared().newDatabase();
		JdbcClient outside = JdbcClient.create(new DriverManagerDataSource(url, PostgresServer.USERNAME, "any"));
		outside.sql("create table invoice (id bigint)").update();
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class,
					SingletonJobAutoConfiguration.class))
			.withUserConfiguration(EarlyBird.class)
			.withPropertyValues("singleton-job.store=postgres", "singleton-job.namespace=shop",
					"singleton-job.fencing.required=true", "spring.datasource.url=" + url,
					"spring.datasource.username=" + PostgresServer.USERNAME, "spring.datasource.password=any")
			.run((context) -> {
				if (context.getStartupFailure() != null) {
					return;
				}
				RunResult result = context.getBean(SingletonJobs.class).run("billing", (run) -> {
					outside.sql("update singleton_job set token = token + 1, owner = 'newer holder'").update();
					context.getBean(TransactionTemplate.class)
						.executeWithoutResult((status) -> context.getBean(JdbcClient.class)
							.sql("insert into invoice values (1)")
							.update());
				});
				assertThat(outside.sql("select count(*) from invoice").query(Long.class).single())
					.as("writes of the stale run, which ended " + result.outcome())
					.isZero();
				assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyBird {

		@Bean
		static Ringer ringer(DataSource dataSource) {
			return new Ringer(dataSource);
		}

	}

	static class Ringer implements BeanPostProcessor, Ordered {

		Ringer(DataSource dataSource) {
		}

		@Override
		public int getOrder() {
			return 0;
		}

	}

}
