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
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A BeanPostProcessor of the application needs the DataSource, which is so created before
 * most beans.
 */
@Timeout(120)
class EarlyDataSourceTests {

	private final String url = PostgresServer.shared().newDatabase();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
				JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class,
				SingletonJobAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=postgres", "singleton-job.namespace=shop",
				"singleton-job.fencing.required=true", "spring.datasource.url=" + this.url,
				"spring.datasource.username=" + PostgresServer.USERNAME, "spring.datasource.password=any");

	@Test
	void aStaleRunCannotCommitAlsoWhereTheDataSourceWasCreatedEarly() {
		JdbcClient outside = JdbcClient.create(new DriverManagerDataSource(this.url, PostgresServer.USERNAME, "any"));
		outside.sql("create table invoice (id bigint)").update();
		this.runner.withUserConfiguration(EarlyBird.class).run((context) -> {
			assertThat(context).hasNotFailed();
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

	@Test
	void oneThatWasCreatedBeforeTheGuardCouldBeFailsTheStart() {
		this.runner.withUserConfiguration(EarliestBird.class)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(InvalidJobException.class)
				.hasMessageContaining("'dataSource' was created before it could be guarded"));
	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyBird {

		@Bean
		static Ringer ringer(DataSource dataSource) {
			return new Ringer(dataSource);
		}

	}

	/** Created together with the one that guards, and so before that is at work. */
	@Configuration(proxyBeanMethods = false)
	static class EarliestBird {

		@Bean
		static DataSource dataSource(Environment environment) {
			return new DriverManagerDataSource(environment.getRequiredProperty("spring.datasource.url"),
					PostgresServer.USERNAME, "any");
		}

		@Bean
		static EarliestRinger ringer(DataSource dataSource) {
			return new EarliestRinger(dataSource);
		}

	}

	static class EarliestRinger extends Ringer implements PriorityOrdered {

		EarliestRinger(DataSource dataSource) {
			super(dataSource);
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
