package io.github.singletonjob.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.auth.Permission;
import io.github.singletonjob.JobBody;
import io.github.singletonjob.JobOptions;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.runtime.RunRequest;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.RedisServer;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * With exactly the rights that {@code docs/operations.md} lists, two instances run a job,
 * look at it, stand by for it, take it away and take it over.
 */
@Timeout(120)
class MinimalRightsTests {

	private static final Instant ONE = Instant.parse("2026-11-29T01:00:00Z");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class))
		.withPropertyValues("singleton-job.namespace=shop", "singleton-job.lease.ttl=5s");

	@Test
	void anSqlRole() throws SQLException, IOException {
		String url = PostgresServer.shared().newDatabase();
		ApplicationContextRunner postgres = this.runner
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("singleton-job.store=postgres", "spring.datasource.url=" + url,
					"spring.datasource.username=" + PostgresServer.USERNAME, "spring.datasource.password=any");
		postgres.run((context) -> assertThat(context).hasNotFailed());
		execute(url, "drop role if exists shop");
		execute(url, "create role shop login");
		execute(url, "revoke create on schema public from public");
		Matcher grants = documented("(?m)^GRANT [^;]* TO shop;$");
		int count = 0;
		while (grants.find()) {
			execute(url, grants.group());
			count++;
		}
		assertThat(count).isPositive();
		try {
			runsAndIsTakenOver(postgres.withPropertyValues("spring.datasource.username=shop",
					"singleton-job.jdbc.initialize-schema=never"));
		}
		finally {
			execute(url, "drop owned by shop");
			execute(url, "drop role shop");
		}
	}

	@Test
	void aRedisUser() throws IOException {
		Matcher rights = documented("(?m)^ACL SETUSER shop (on >password .*)$");
		assertThat(rights.find()).isTrue();
		try (RedisServer server = RedisServer.create().withPassword("secret").start()) {
			server.ask((redis) -> {
				CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add("shop");
				for (String right : rights.group(1).trim().split(" ", -1)) {
					arguments.add(right);
				}
				return redis.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments);
			});
			runsAndIsTakenOver(this.runner.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
				.withPropertyValues("singleton-job.store=redis", "spring.data.redis.host=127.0.0.1",
						"spring.data.redis.port=" + server.port(), "spring.data.redis.username=shop",
						"spring.data.redis.password=password"));
		}
	}

	@Test
	void anEtcdRole() throws IOException {
		EtcdServer.assumeAvailable();
		Matcher rights = documented("(?m)^etcdctl role grant-permission --prefix=true shop readwrite (\\S+)/$");
		assertThat(rights.find()).isTrue();
		String prefix = rights.group(1);
		try (EtcdServer server = EtcdServer.create().start()) {
			server.api().post("auth/user/add", "{\"name\":\"root\",\"password\":\"top secret\"}");
			server.api().post("auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
			server.api().post("auth/user/add", "{\"name\":\"shop\",\"password\":\"open sesame\"}");
			server.api().post("auth/role/add", "{\"name\":\"shop\"}");
			server.api().post("auth/user/grant", "{\"user\":\"shop\",\"role\":\"shop\"}");
			server.api().post("auth/enable", "{}");
			grant(server, prefix);
			runsAndIsTakenOver(this.runner.withPropertyValues("singleton-job.store=etcd",
					"singleton-job.etcd.endpoints=" + server.endpoint(), "singleton-job.etcd.user=shop",
					"singleton-job.etcd.password=open sesame"));
		}
	}

	private static void runsAndIsTakenOver(ApplicationContextRunner instances) {
		instances.run((first) -> instances.run((second) -> {
			assertThat(first).hasNotFailed();
			assertThat(second).hasNotFailed();
			RunResult cut = fire(first, (run) -> {
				LeaseStore store = second.getBean(JobEngine.class).store();
				JobSettings settings = second.getBean(JobSettings.class);
				store.watch(settings.id("billing"), Duration.ofSeconds(2), () -> {
				}).close();
				assertThat(second.getBean(SingletonJobs.class).release("billing", run.token())).isTrue();
				Awaitility.await().atMost(20, TimeUnit.SECONDS).until(() -> !run.isHeld());
			});
			assertThat(cut.outcome()).isEqualTo(RunOutcome.LOST);
			Awaitility.await()
				.atMost(20, TimeUnit.SECONDS)
				.until(() -> fire(second, (run) -> assertThat(run.isTakeover()).isTrue())
					.outcome() == RunOutcome.COMPLETED);
			assertThat(fire(first, (run) -> {
			}).outcome()).isEqualTo(RunOutcome.SKIPPED_ALREADY_RAN);
		}));
	}

	private static RunResult fire(ApplicationContext context, JobBody body) {
		JobSettings settings = context.getBean(JobSettings.class);
		return context.getBean(JobEngine.class)
			.run(new RunRequest(settings.id("billing"), settings.settings("billing", JobOptions.defaults()),
					new Firing("", ONE, true)), body);
	}

	private static Matcher documented(String pattern) throws IOException {
		return Pattern.compile(pattern).matcher(Files.readString(Path.of("..", "..", "docs", "operations.md")));
	}

	private static void execute(String url, String sql) throws SQLException {
		try (Connection connection = PostgresServer.connect(url); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static void grant(EtcdServer server, String prefix) {
		try (Client root = Client.builder()
			.endpoints(server.endpoint())
			.user(bytes("root"))
			.password(bytes("top secret"))
			.build()) {
			// The end of the range of a prefix: its last character, raised by one
			root.getAuthClient()
				.roleGrantPermission(bytes("shop"), bytes(prefix + "/"), bytes(prefix + "0"), Permission.Type.READWRITE)
				.orTimeout(20, TimeUnit.SECONDS)
				.join();
		}
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

}
