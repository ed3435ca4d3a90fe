package io.github.singletonjob.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One guarded database, and another kind of store with each deployment: whatever numbers
 * a store begins with, the tokens that the database sees go up, and the job runs.
 */
@Timeout(120)
class ExchangedStoreTests {

	private final String url = PostgresServer.shared().newDatabase();

	private final List<Long> tokens = new ArrayList<>();

	@Test
	void tokensGoUpThroughEveryExchangeOfTheStore() {
		for (String store : new String[] { "postgres", "etcd", "redis", "etcd", "postgres", "redis" }) {
			deploy(store);
		}
		assertThat(this.tokens).as("wrong data: tokens").hasSize(12).isSorted().doesNotHaveDuplicates();
	}

	private void deploy(String store) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class,
					DataRedisAutoConfiguration.class, SingletonJobAutoConfiguration.class))
			.withPropertyValues("singleton-job.store=" + store,
					"singleton-job.namespace=" + this.url.substring(this.url.lastIndexOf('/') + 1),
					"spring.datasource.url=" + this.url, "spring.datasource.username=" + PostgresServer.USERNAME,
					"spring.data.redis.port=" + RedisServer.shared().port(),
					"singleton-job.etcd.endpoints=" + EtcdServer.shared().endpoint())
			.run((context) -> {
				JdbcClient jdbc = context.getBean(JdbcClient.class);
				jdbc.sql("create table if not exists effect (token bigint)").update();
				for (int i = 0; i < 2; i++) {
					RunResult result = context.getBean(SingletonJobs.class).run("billing", (run) -> {
						jdbc.sql("insert into effect values (?)").param(run.token()).update();
						this.tokens.add(run.token());
					});
					assertThat(result.outcome()).as(store).isEqualTo(RunOutcome.COMPLETED);
				}
			});
	}

}
