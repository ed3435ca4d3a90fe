package io.github.singletonjob.chaos;

import java.lang.reflect.Constructor;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;

import io.github.singletonjob.autoconfigure.SingletonJobAutoConfiguration;
import io.github.singletonjob.servers.PostgresServer;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * The same server and the same body under ShedLock, with its JDBC provider and its
 * keep-alive. Each run numbers itself from a row as it begins, for the check only.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class,
		SingletonJobAutoConfiguration.class })
@EnableScheduling
@EnableSchedulerLock(defaultLockAtMostFor = ShedLockServer.AT_MOST)
@Import(ShedLockServer.Billing.class)
public class ShedLockServer {

	/** As long as a lease of ours. */
	static final String AT_MOST = "PT2S";

	public static void main(String[] args) {
		SpringApplication.run(ShedLockServer.class, args);
	}

	@Bean
	EventLog events(Environment environment) {
		return new EventLog(environment.getRequiredProperty("events.url"),
				environment.getRequiredProperty("server.name"));
	}

	@Bean
	LockProvider lockProvider(Environment environment) throws ReflectiveOperationException {
		DriverManagerDataSource dataSource = new DriverManagerDataSource(environment.getRequiredProperty("store.url"),
				PostgresServer.USERNAME, "");
		JdbcTemplateLockProvider jdbc = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
			.withJdbcTemplate(new JdbcTemplate(dataSource))
			.usingDbTime()
			.build());
		// Its public constructor wants locks of 30 s, which would make each fault 15
		// times as long
		Constructor<KeepAliveLockProvider> constructor = KeepAliveLockProvider.class
			.getDeclaredConstructor(ExtensibleLockProvider.class, ScheduledExecutorService.class, Duration.class);
		constructor.setAccessible(true);
		return constructor.newInstance(jdbc, keepAliveThread(), Duration.parse(AT_MOST));
	}

	/** No bean: Spring would schedule the job itself on its only thread. */
	private static ScheduledExecutorService keepAliveThread() {
		return Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread thread = new Thread(task, "keep-alive");
			thread.setDaemon(true);
			return thread;
		});
	}

	@EventListener(ApplicationReadyEvent.class)
	void ready() {
		System.out.println("SAYS READY");
	}

	static class Billing {

		private final JdbcClient jdbc;

		private final BillingJob body;

		Billing(JdbcClient jdbc, PlatformTransactionManager transactions, EventLog events) {
			this.jdbc = jdbc;
			this.body = new BillingJob(jdbc, transactions, events);
		}

		@Scheduled(fixedDelayString = "100")
		@SchedulerLock(name = BillingJob.JOB)
		public void charge() {
			long number = this.jdbc.sql("update run_number set number = number + 1 returning number")
				.query(Long.class)
				.single();
			this.body.run(number, (period, customer) -> period + "-" + customer);
		}

	}

}
