package io.github.singletonjob.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.Objects;

import com.zaxxer.hikari.HikariDataSource;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.auth.Permission;
import io.github.singletonjob.JobOptions;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.PostgresServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What an application sees at start and in a run, with leases in etcd.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class EtcdWiringTests {

	private static final String ADMINISTRATOR = "{\"name\":\"root\",\"password\":\"top secret\"}";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=etcd", "singleton-job.namespace=shop");

	@BeforeAll
	static void requireEtcd() {
		EtcdServer.assumeAvailable();
	}

	@Test
	void oneDependencyAndTheAddressAreEnough() {
		try (EtcdServer server = EtcdServer.create().start()) {
			at(server).run((context) -> {
				SingletonJobs jobs = context.getBean(SingletonJobs.class);
				for (int i = 0; i < 2; i++) {
					assertThat(jobs
						.run("billing",
								(run) -> assertThat(server.api().keys("singleton-job/")).containsExactly(
										"singleton-job/shop/lease/billing", "singleton-job/shop/record/billing"))
						.outcome()).isEqualTo(RunOutcome.COMPLETED);
				}
				assertThat(server.api().keys("singleton-job/")).containsExactly("singleton-job/shop/record/billing");
				assertThat(server.api().leases()).isNotEmpty();
			});
			assertThat(server.api().leases()).isEmpty();
		}
	}

	@Test
	void anEtcdThatIsNotThereIsAWarning(CapturedOutput output) {
		try (EtcdServer server = EtcdServer.create()) {
			at(server).run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("The etcd of the lease store did not answer at start");
				SingletonJobs jobs = context.getBean(SingletonJobs.class);
				assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> jobs.run("billing", (run) -> {
				}));
				server.start();
				Awaitility.await()
					.atMost(Duration.ofSeconds(10))
					.ignoreException(LeaseStoreException.class)
					.until(() -> jobs.run("billing", (run) -> {
					}).outcome() == RunOutcome.COMPLETED);
			});
		}
	}

	@Test
	void aUserNeedsTheRightPasswordAndRights(CapturedOutput output) {
		try (EtcdServer server = EtcdServer.create().start()) {
			ApplicationContextRunner shop = at(server).withPropertyValues("singleton-job.etcd.user=shop",
					"singleton-job.etcd.password=open sesame");
			fails(shop, "asks for none", "Remove singleton-job.etcd.user");
			server.api().post("auth/user/add", ADMINISTRATOR);
			server.api().post("auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
			server.api().post("auth/user/add", "{\"name\":\"shop\",\"password\":\"open sesame\"}");
			server.api().post("auth/role/add", "{\"name\":\"shop\"}");
			server.api().post("auth/user/grant", "{\"user\":\"shop\",\"role\":\"shop\"}");
			server.api().post("auth/enable", "{}");
			fails(at(server), "asks for a user", "Set singleton-job.etcd.user");
			fails(shop.withPropertyValues("singleton-job.etcd.password=guessed"), "does not accept the user",
					"singleton-job.etcd.password");
			fails(shop, "may not read and write the keys that begin with singleton-job/shop/",
					"grant-permission --prefix=true <role of the user> readwrite singleton-job/shop/");
			grant(server);
			shop.run((context) -> {
				SingletonJobs jobs = context.getBean(SingletonJobs.class);
				JobOptions options = JobOptions.defaults().withTtl(Duration.ofSeconds(2));
				assertThat(untilAnswered(() -> jobs.run("billing", options, (run) -> {
				}))).isEqualTo(RunOutcome.COMPLETED);
				// A restart forgets who has logged in
				server.kill();
				server.start();
				assertThat(untilAnswered(() -> jobs.run("billing", options, (run) -> {
					long token = run.token();
					long start = System.nanoTime();
					Awaitility.await().until(() -> System.nanoTime() - start > Duration.ofSeconds(4).toNanos());
					run.ensureHeld();
					assertThat(run.token()).isEqualTo(token);
				}))).isEqualTo(RunOutcome.COMPLETED);
			});
			assertThat(output).doesNotContain("open sesame").doesNotContain("guessed");
		}
	}

	/** Logging in takes etcd long on a busy machine. */
	private static RunOutcome untilAnswered(Callable<RunResult> attempt) {
		return Awaitility.await()
			.pollInSameThread()
			.atMost(Duration.ofSeconds(30))
			.ignoreException(LeaseStoreException.class)
			.until(attempt, Objects::nonNull)
			.outcome();
	}

	@Test
	void theApplicationsOwnClientIsUsedAndLeftOpen() {
		try (Client client = Client.builder().endpoints(EtcdServer.shared().endpoint()).build()) {
			this.runner.withBean(Client.class, () -> client)
				.run((context) -> assertThat(context.getBean(SingletonJobs.class).run("billing", (run) -> {
				}).outcome()).isEqualTo(RunOutcome.COMPLETED));
			this.runner.withBean("client", Client.class, () -> client, (bean) -> bean.setDestroyMethodName(""))
				.run((context) -> assertThat(context).hasNotFailed());
		}
		try (Client client = Client.builder().endpoints(EtcdServer.shared().endpoint()).build()) {
			this.runner.withBean(Client.class, () -> client, (bean) -> bean.setDestroyMethodName(""))
				.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LeaseStore.class));
			assertThat(client.getKVClient().get(bytes("x")).join().getKvs()).isEmpty();
		}
	}

	@Test
	void aDatabaseThatHasSeenHigherTokensIsNotInTheWay() {
		String url = PostgresServer.shared().newDatabase();
		at(EtcdServer.shared()).withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + url, "spring.datasource.username=postgres",
					"spring.datasource.password=")
			.run((context) -> {
				SingletonJobs jobs = context.getBean(SingletonJobs.class);
				long[] tokens = new long[2];
				assertThat(jobs.run("fenced", (run) -> tokens[0] = run.token()).outcome())
					.isEqualTo(RunOutcome.COMPLETED);
				long seen = System.currentTimeMillis();
				execute(context.getBean(HikariDataSource.class),
						"update singleton_job set token = " + seen + ", owner = 'another store'");
				assertThat(jobs.run("fenced", (run) -> tokens[1] = run.token()).outcome())
					.isEqualTo(RunOutcome.COMPLETED);
				assertThat(tokens[0]).isLessThan(seen);
				assertThat(tokens[1]).isGreaterThan(seen);
			});
	}

	private ApplicationContextRunner at(EtcdServer server) {
		return this.runner.withPropertyValues("singleton-job.etcd.endpoints=" + server.endpoint());
	}

	private static void grant(EtcdServer server) {
		try (Client root = Client.builder()
			.endpoints(server.endpoint())
			.user(bytes("root"))
			.password(bytes("top secret"))
			.build()) {
			ByteSequence from = bytes("singleton-job/shop/");
			ByteSequence to = bytes("singleton-job/shop0");
			root.getAuthClient().roleGrantPermission(bytes("shop"), from, to, Permission.Type.READWRITE).join();
		}
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	private static void execute(HikariDataSource dataSource, String sql) throws Exception {
		try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static void fails(ApplicationContextRunner runner, String description, String action) {
		runner.run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = new UnusableDatabaseFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis).isNotNull();
			assertThat(analysis.getDescription()).contains(description);
			assertThat(analysis.getAction()).contains(action);
		});
	}

}
