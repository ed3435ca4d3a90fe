package io.github.singletonjob.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.fencing.JdbcFence;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A whole application on whatever Spring Boot is on the class path, with all its
 * auto-configurations. Names no type that moved between Boot 3.5 and Boot 4.
 */
@ExtendWith(OutputCaptureExtension.class)
class SupportedBootTests {

	private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	@Test
	void theVersionIsOneThatWeSupport() {
		assertThat(SpringBootVersion.getVersion()).matches("(3\\.5|4\\.[01])\\..*");
	}

	@Test
	void anAnnotatedMethodIsAJob() {
		try (ConfigurableApplicationContext context = start("--singleton-job.store=in-memory")) {
			context.getBean(Billing.class).charge();
			assertThat(context.getBean(Billing.class).tokens()).hasSize(1);
		}
	}

	@Test
	void theApplicationsDatabaseIsFenced() {
		try (ConfigurableApplicationContext context = start("--singleton-job.store=in-memory")) {
			JdbcClient jdbc = context.getBean(JdbcClient.class);
			jdbc.sql("create table invoice (id int primary key)").update();
			assertThat(FencedDataSources.isGuarded(context.getBean(DataSource.class))).isTrue();
			RunResult result = context.getBean(SingletonJobs.class).run("billing", (run) -> {
				insert(context, 1);
				raiseAbove(context, run);
				insert(context, 2);
			});
			assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
			assertThat(result.failure()).hasStackTraceContaining(StaleTokenException.class.getName());
			assertThat(jdbc.sql("select id from invoice").query(Integer.class).list()).containsExactly(1);
		}
	}

	@Test
	void theCommonPoolCanBeRefused() throws Exception {
		try (ConfigurableApplicationContext context = start("--singleton-job.store=in-memory",
				"--singleton-job.fencing.common-pool=refuse")) {
			DataSource dataSource = context.getBean(DataSource.class);
			RunResult result = context.getBean(SingletonJobs.class).run("billing", (run) -> {
				assertThat(onCommonPool(() -> open(dataSource))).contains("of the common pool carries no run");
				assertThat(onCommonPool(() -> {
					try (var scope = CurrentJobRun.open(run)) {
						return open(dataSource);
					}
				})).isEqualTo("opened");
				assertThat(open(dataSource)).isEqualTo("opened");
			});
			assertThat(result.failure()).isNull();
		}
		try (ConfigurableApplicationContext context = start("--singleton-job.store=in-memory")) {
			DataSource dataSource = context.getBean(DataSource.class);
			assertThat(onCommonPool(() -> open(dataSource))).isEqualTo("opened");
		}
	}

	private static String open(DataSource dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			return connection.isValid(1) ? "opened" : "invalid";
		}
		catch (SQLException ex) {
			return String.valueOf(ex.getMessage());
		}
	}

	private static String onCommonPool(Callable<String> task) throws Exception {
		return ForkJoinPool.commonPool().submit(task).get(10, TimeUnit.SECONDS);
	}

	@Test
	void thePostgresStoreConnectsWithTheApplicationsDetails(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start("--singleton-job.store=postgres",
				"--singleton-job.fencing.enabled=false", "--spring.datasource.url=jdbc:postgresql://127.0.0.1:9/shop",
				"--spring.sql.init.mode=never")) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output).contains("The Postgres of the lease store did not answer at start")
				.contains("Connection to 127.0.0.1:9 refused");
		}
	}

	@Test
	void theRedisStoreConnectsWithTheApplicationsFactory(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start("--singleton-job.store=redis",
				"--spring.data.redis.url=redis://127.0.0.1:9")) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output).contains("The Redis of the lease store did not answer at start");
		}
	}

	@Test
	void theEtcdStoreConnectsToItsEndpoints(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start("--singleton-job.store=etcd",
				"--singleton-job.etcd.endpoints=http://127.0.0.1:9")) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output).contains("The etcd of the lease store did not answer at start");
		}
	}

	@Test
	void nothingIsBuiltTooEarly(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start("--singleton-job.store=in-memory")) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output).doesNotContain("not eligible for getting processed").doesNotContain("ERROR");
		}
	}

	private ConfigurableApplicationContext start(String... arguments) {
		List<String> all = new ArrayList<>(List.of("--singleton-job.namespace=shop"));
		if (Stream.of(arguments).noneMatch((argument) -> argument.startsWith("--spring.datasource.url="))) {
			all.add("--spring.datasource.url=" + this.url);
		}
		all.addAll(List.of(arguments));
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.run(all.toArray(String[]::new));
	}

	private static void insert(ConfigurableApplicationContext context, int id) {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult(
				(status) -> context.getBean(JdbcClient.class).sql("insert into invoice values (?)").param(id).update());
	}

	private static void raiseAbove(ConfigurableApplicationContext context, JobRun run) {
		LeaseRequest request = new LeaseRequest(new JobId("shop", run.job()), "successor", "server-2",
				Duration.ofSeconds(30), Duration.ofSeconds(5), 0);
		LeaseGrant successor = new LeaseGrant(request, run.token() + 1, null, false);
		new JdbcFence(context.getBean(DataSource.class)).raise(successor, "server-2", Duration.ofSeconds(5));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Billing billing(JobRun run) {
			return new Billing(run);
		}

	}

	static class Billing {

		private final List<Long> tokens = new ArrayList<>();

		private final JobRun run;

		Billing(JobRun run) {
			this.run = run;
		}

		@SingletonJob("billing")
		public void charge() {
			this.tokens.add(this.run.token());
		}

		List<Long> tokens() {
			return this.tokens;
		}

	}

}
