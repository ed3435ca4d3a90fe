package io.github.singletonjob.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;

import io.etcd.jetcd.Auth;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.auth.Permission;
import io.github.singletonjob.JobBody;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.servers.Certificate;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.RedisServer;
import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.SslContext;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Stores that talk TLS only, ask for a certificate of the client, and for a password.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class EncryptedStoreTests {

	private static final Certificate SERVER = Certificate.create("server");

	private static final Certificate CLIENT = Certificate.create("client");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				SingletonJobAutoConfiguration.class))
		.withPropertyValues("singleton-job.namespace=shop", "singleton-job.lease.ttl=10s",
				"singleton-job.lease.renew-every=500ms");

	/** At its end less would be left of the lease if it had not been renewed. */
	private static void runs(ApplicationContextRunner application) {
		application.run((context) -> completes(context, (run) -> {
			long start = System.nanoTime();
			Awaitility.await().until(() -> System.nanoTime() - start > Duration.ofMillis(2500).toNanos());
			assertThat(run.remaining()).isGreaterThan(Duration.ofSeconds(5));
		}));
	}

	private static void isAnswered(ApplicationContextRunner application) {
		application.run((context) -> completes(context, (run) -> {
		}));
	}

	/** Logging in takes etcd long on a busy machine. */
	private static void completes(ApplicationContext context, JobBody body) {
		SingletonJobs jobs = context.getBean(SingletonJobs.class);
		RunResult result = Awaitility.await()
			.pollInSameThread()
			.atMost(Duration.ofSeconds(30))
			.ignoreException(LeaseStoreException.class)
			.until(() -> jobs.run("billing", body), Objects::nonNull);
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
	}

	private static void doesNotRun(ApplicationContextRunner application, String reason) {
		application.run((context) -> {
			SingletonJobs jobs = context.getBean(SingletonJobs.class);
			boolean[] ran = new boolean[1];
			assertThatExceptionOfType(LeaseStoreException.class)
				.isThrownBy(() -> jobs.run("billing", (run) -> ran[0] = true))
				.withMessageContaining(reason);
			assertThat(ran[0]).isFalse();
		});
	}

	private static void failsToStart(ApplicationContextRunner application, String description) {
		application.run((context) -> {
			FailureAnalysis analysis = new UnusableDatabaseFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains(description);
		});
	}

	@Test
	void redisByABundleOfSpringBoot(CapturedOutput output) {
		try (RedisServer server = RedisServer.create().withPassword("open sesame")) {
			int port = server.withTls(SERVER, CLIENT);
			server.start();
			ApplicationContextRunner trusting = this.runner.withPropertyValues("singleton-job.store=redis",
					"spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + port,
					"spring.data.redis.password=open sesame", "spring.data.redis.ssl.bundle=leases",
					"spring.ssl.bundle.pem.leases.truststore.certificate=file:" + SERVER.certificate());
			ApplicationContextRunner known = trusting.withPropertyValues(
					"spring.ssl.bundle.pem.leases.keystore.certificate=file:" + CLIENT.certificate(),
					"spring.ssl.bundle.pem.leases.keystore.private-key=file:" + CLIENT.key());
			runs(known);
			doesNotRun(trusting, "Redis");
			doesNotRun(
					known.withPropertyValues(
							"spring.ssl.bundle.pem.leases.truststore.certificate=file:" + CLIENT.certificate()),
					"Redis");
			failsToStart(known.withPropertyValues("spring.data.redis.password=guessed"), "refuses the credentials");
			assertThat(output).doesNotContain("open sesame").doesNotContain("guessed");
		}
	}

	@Test
	void etcdByFilesAndAUser(CapturedOutput output) throws Exception {
		EtcdServer.assumeAvailable();
		try (EtcdServer server = EtcdServer.create().withTls(SERVER, CLIENT).start()) {
			ApplicationContextRunner plain = this.runner.withPropertyValues("singleton-job.store=etcd",
					"singleton-job.etcd.endpoints=" + server.endpoint());
			ApplicationContextRunner trusting = plain
				.withPropertyValues("singleton-job.etcd.tls.ca=" + SERVER.certificate());
			ApplicationContextRunner known = trusting.withPropertyValues(
					"singleton-job.etcd.tls.certificate=" + CLIENT.certificate(),
					"singleton-job.etcd.tls.key=" + CLIENT.key());
			isAnswered(known);
			doesNotRun(plain, "etcd");
			doesNotRun(trusting, "etcd");
			doesNotRun(known.withPropertyValues("singleton-job.etcd.tls.ca=" + CLIENT.certificate()),
					"see the certificates in singleton-job.etcd.tls");
			askForUsers(server);
			ApplicationContextRunner shop = known.withPropertyValues("singleton-job.etcd.user=shop",
					"singleton-job.etcd.password=open sesame");
			runs(shop);
			failsToStart(shop.withPropertyValues("singleton-job.etcd.password=guessed"), "does not accept the user");
			assertThat(output).doesNotContain("open sesame").doesNotContain("guessed");
		}
	}

	private static void askForUsers(EtcdServer server) throws Exception {
		SslContext encryption = GrpcSslContexts.forClient()
			.trustManager(SERVER.certificate().toFile())
			.keyManager(CLIENT.certificate().toFile(), CLIENT.key().toFile())
			.build();
		try (Client client = Client.builder().endpoints(server.endpoint()).sslContext(encryption).build()) {
			Auth auth = client.getAuthClient();
			auth.userAdd(bytes("root"), bytes("top secret")).join();
			auth.userGrantRole(bytes("root"), bytes("root")).join();
			auth.userAdd(bytes("shop"), bytes("open sesame")).join();
			auth.roleAdd(bytes("shop")).join();
			auth.roleGrantPermission(bytes("shop"), bytes("singleton-job/shop/"), bytes("singleton-job/shop0"),
					Permission.Type.READWRITE)
				.join();
			auth.userGrantRole(bytes("shop"), bytes("shop")).join();
			auth.authEnable().join();
		}
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

}
