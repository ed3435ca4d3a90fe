package io.github.singletonjob.autoconfigure;

import java.util.function.Consumer;

import io.github.singletonjob.SingletonJob;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindException;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * What cannot work fails the start and says the next step.
 */
class BadInputTests {

	private final ApplicationContextRunner empty = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class));

	private final ApplicationContextRunner runner = this.empty.withPropertyValues("singleton-job.store=in-memory",
			"singleton-job.namespace=shop");

	@Test
	void noStore() {
		fails(this.empty.withPropertyValues("singleton-job.namespace=shop"), "no store", "Set singleton-job.store to");
	}

	@Test
	@Tag("boot-4") // names an auto-configuration that moved
	void aRedisStoreWithoutRedis() {
		ApplicationContextRunner redis = this.empty.withPropertyValues("singleton-job.namespace=shop",
				"singleton-job.store=redis");
		fails(redis, "'redis' has nothing to connect with", "spring-boot-starter-data-redis");
		fails(redis.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("org.springframework.data.redis", "io.lettuce")),
				"'redis' has nothing to connect with", "spring-boot-starter-data-redis");
		fails(redis.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.masterreplica.nodes=localhost:1"), "masterreplica",
				"spring.data.redis.sentinel");
		fails(redis.withBean(RedisConnectionFactory.class, () -> mock(RedisConnectionFactory.class)), "of Lettuce",
				"client-type=lettuce");
	}

	@Test
	void anEtcdStoreWithoutEtcd() {
		ApplicationContextRunner etcd = this.empty.withPropertyValues("singleton-job.namespace=shop",
				"singleton-job.store=etcd");
		fails(etcd, "'etcd' has nothing to connect with", "singleton-job.etcd.endpoints");
		fails(etcd.withPropertyValues("singleton-job.etcd.endpoints=localhost:1")
			.withClassLoader(new FilteredClassLoader("io.etcd", "io.grpc", "io.netty", "io.vertx")),
				"'etcd' has nothing to connect with", "io.etcd:jetcd-core");
	}

	@Test
	void anEtcdStoreThatCannotBeMeantSo() {
		ApplicationContextRunner etcd = this.empty.withPropertyValues("singleton-job.namespace=shop",
				"singleton-job.store=etcd");
		fails(etcd.withPropertyValues("singleton-job.etcd.endpoints=etcd:2379:1"), "'etcd:2379:1' is no address",
				"singleton-job.etcd");
		fails(etcd.withPropertyValues("singleton-job.etcd.endpoints=http://a:1,https://b:1"), "https",
				"singleton-job.etcd");
		fails(etcd.withPropertyValues("singleton-job.etcd.endpoints=a:1", "singleton-job.etcd.user=shop"), "password",
				"singleton-job.etcd");
		fails(etcd.withPropertyValues("singleton-job.etcd.endpoints=a:1", "singleton-job.etcd.tls.key=/no/such/file"),
				"certificate", "singleton-job.etcd");
		fails(etcd.withPropertyValues("singleton-job.etcd.endpoints=a:1", "singleton-job.etcd.tls.ca=/no/such/file"),
				"files for TLS", "singleton-job.etcd");
	}

	@Test
	void anUnknownStore() {
		this.empty.withPropertyValues("singleton-job.namespace=shop", "singleton-job.store=oracle")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("No enum constant")
				.hasMessageContaining("oracle"));
		this.empty.withPropertyValues("singleton-job.namespace=shop", "singleton-job.store=oracle")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining(ConfigurationPropertiesBindException.class.getName()));
	}

	@Test
	void noNamespace() {
		fails(this.empty.withPropertyValues("singleton-job.store=in-memory"), "no namespace",
				"singleton-job.namespace or spring.application.name");
	}

	@Test
	void twoJobsOfOneName() {
		fails(with(Twice.class), "Two jobs have the name 'billing'", "name of its own");
	}

	@Test
	void anEmptyName() {
		fails(with(Empty.class), "empty name", "Name it");
		fails(with(EmptyPlaceholder.class), "resolved to nothing", "Name it");
		fails(with(Unresolvable.class), "cannot be resolved", "${name:default}");
	}

	@Test
	void aNameOf301Characters() {
		fails(with(LongName.class).withPropertyValues("long.name=" + "x".repeat(301)), "301 characters",
				"1 to 300 characters");
	}

	@Test
	void namesWithAnythingInThemAreFine() {
		for (String name : new String[] { "o'reilly \"quoted\"", "a:b::c", "{curly} # {'", "ünïcödé 請求書 🧾",
				"x".repeat(300) }) {
			with(Named.class).withPropertyValues("long.name=" + name).run((context) -> {
				assertThat(context).hasNotFailed();
				context.getBean(Named.class).run();
			});
		}
	}

	@Test
	void aTtlBelowTwoSeconds() {
		fails(this.runner.withPropertyValues("singleton-job.jobs.billing.ttl=1s").withUserConfiguration(Good.class),
				"ttl 1s is too short: it must be at least 2s", "singleton-job.jobs.billing");
		fails(with(ShortTtl.class), "ttl 1999ms is too short", "singleton-job.lease");
	}

	@Test
	void timesThatDoNotFit() {
		fails(this.runner.withPropertyValues("singleton-job.lease.renew-every=8s").withUserConfiguration(Good.class),
				"do not fit together", "singleton-job.lease");
		fails(this.runner.withPropertyValues("singleton-job.lease.stop-early=0s").withUserConfiguration(Good.class),
				"stop-early 0s is too short", "singleton-job.lease");
		fails(with(BadDuration.class), "'soon'", "30s, 5m or PT30S");
	}

	@Test
	void aBadSettingOfAJobThatDoesNotExistYetIsFoundToo() {
		fails(this.runner.withPropertyValues("singleton-job.jobs.later.max-run=0s"), "max-run",
				"singleton-job.jobs.later");
	}

	@Test
	void methodsThatNoProxyCanIntercept() {
		fails(with(FinalMethod.class), "is final", "kotlin-spring");
		fails(with(PrivateMethod.class), "is private", "Remove 'private'");
		fails(with(StaticMethod.class), "is static", "Remove 'static'");
		fails(with(FinalClass.class), "final class", "Make the class open");
	}

	@Test
	void aReturnTypeThatCannotSaySkipped() {
		fails(with(ReturnsInt.class), "returns int", "java.util.Optional");
		fails(with(ReturnsString.class), "returns java.lang.String", "java.util.Optional");
	}

	@Test
	void aFinalClassWithAnInterfaceWhereProxiesExtendClasses() {
		fails(with(FinalWithInterface.class).withPropertyValues("spring.aop.proxy-target-class=true"), "final class",
				"spring.aop.proxy-target-class=false");
		with(FinalWithInterface.class).withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void settingsThatDoNotExist() {
		fails(this.runner.withPropertyValues("singleton-job.lease.tll=30s"), "no setting singleton-job.lease.tll",
				"Did you mean singleton-job.lease.ttl?");
		fails(this.runner.withPropertyValues("singleton-job.ttl=30s"), "no setting singleton-job.ttl",
				"Did you mean singleton-job.lease.ttl?");
		fails(this.runner.withPropertyValues("singleton-job.jobs.billing.max-rnu=30s"),
				"no setting singleton-job.jobs.billing.max-rnu", "Did you mean singleton-job.jobs.billing.max-run?");
		fails(this.runner.withPropertyValues("singleton-job.jobs.billing.eu.ttl=30s"),
				"no setting singleton-job.jobs.billing.eu.ttl", "put it in brackets");
		fails(this.runner.withSystemProperties("singleton-job.fencing.requierd=true"),
				"no setting singleton-job.fencing.requierd", "Did you mean singleton-job.fencing.required?");
	}

	@Test
	void settingsInEverySpellingThatBinds() {
		this.runner
			.withPropertyValues("singleton-job.lease.renewEvery=2s", "singleton-job.lease.stop_early=2s",
					"singleton-job.jobs.[billing.eu].ttl=30s", "singleton-job.jobs.billing.minHold=3s",
					"singleton-job.etcd.endpoints[0]=a:1", "singleton-job.etcd.endpoints[1]=b:1",
					"singleton-job.fencing.idle-in-transaction-timeout=0")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(SingletonJobProperties.class).jobs()).containsOnlyKeys("billing.eu",
						"billing");
			});
	}

	@Test
	void durationsWithoutAUnit() {
		fails(this.runner.withPropertyValues("singleton-job.lease.renew-every=3"),
				"singleton-job.lease.renew-every is 3, without a unit", "did you mean 3s");
		fails(this.runner.withPropertyValues("limit=2", "singleton-job.jobs.billing.max-run=${limit}"),
				"singleton-job.jobs.billing.max-run is 2, without a unit", "did you mean 2s");
		fails(with(TtlWithoutUnit.class), "TtlWithoutUnit.run() is 30, without a unit", "did you mean 30s");
	}

	@Test
	void durationsOutOfBounds() {
		fails(this.runner.withPropertyValues("singleton-job.lease.renew-every=3ms"), "renew-every 3ms is too short",
				"singleton-job.lease");
	}

	@Test
	void namesThatLookLikeExpressionsOrCannotBeShown() {
		fails(with(NoBraces.class), "one name for all values of tenant", "billing-#{#tenant}");
		fails(with(LongName.class).withPropertyValues("long.name=a\nb"), "line break", "Name the job");
		fails(with(Padded.class), "begins or ends with a space", "Name the job");
	}

	@Test
	void aJobThatNoProxyReaches() {
		fails(with(EarlyJob.class), "is not reached by a proxy", "bean of its own");
	}

	private ApplicationContextRunner with(Class<?> configuration) {
		return this.runner.withUserConfiguration(configuration);
	}

	private static void fails(ApplicationContextRunner runner, String description, String action) {
		runner.run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains(description);
			assertThat(analysis.getAction()).contains(action);
		});
	}

	private static FailureAnalysis analyze(Throwable failure) {
		for (FailureAnalyzer analyzer : new FailureAnalyzer[] { new InvalidJobFailureAnalyzer(),
				new NoLeaseStoreFailureAnalyzer(), new UnusableDatabaseFailureAnalyzer() }) {
			FailureAnalysis analysis = analyzer.analyze(failure);
			if (analysis != null) {
				return analysis;
			}
		}
		throw new AssertionError("No analyzer for it", failure);
	}

	static class Good {

		@SingletonJob("billing")
		public void run() {
		}

	}

	static class Twice {

		@SingletonJob("billing")
		public void one() {
		}

		@SingletonJob("${b:billing}")
		public void two() {
		}

	}

	static class Empty {

		@SingletonJob(" ")
		public void run() {
		}

	}

	static class EmptyPlaceholder {

		@SingletonJob("${nothing:}")
		public void run() {
		}

	}

	static class Unresolvable {

		@SingletonJob("${nothing}")
		public void run() {
		}

	}

	static class LongName {

		@SingletonJob("${long.name}")
		public void run() {
		}

	}

	static class Named extends LongName {

	}

	static class ShortTtl {

		@SingletonJob(value = "billing", ttl = "1999ms")
		public void run() {
		}

	}

	static class BadDuration {

		@SingletonJob(value = "billing", maxRun = "soon")
		public void run() {
		}

	}

	static class FinalMethod {

		@SingletonJob("billing")
		public final void run() {
		}

	}

	static class PrivateMethod {

		Consumer<String> user = (text) -> run();

		@SingletonJob("billing")
		private void run() {
		}

	}

	static class StaticMethod {

		@SingletonJob("billing")
		static void run() {
		}

	}

	static final class FinalClass {

		@SingletonJob("billing")
		void run() {
		}

	}

	interface Runs {

		void run();

	}

	static final class FinalWithInterface implements Runs {

		@Override
		@SingletonJob("billing")
		public void run() {
		}

	}

	static class TtlWithoutUnit {

		@SingletonJob(value = "billing", ttl = "30")
		public void run() {
		}

	}

	static class NoBraces {

		@SingletonJob("billing-#tenant")
		public void run(String tenant) {
		}

	}

	static class Padded {

		@SingletonJob(" billing")
		public void run() {
		}

	}

	static class ReturnsInt {

		@SingletonJob("billing")
		public int run() {
			return 1;
		}

	}

	static class ReturnsString {

		@SingletonJob("billing")
		public String run() {
			return "";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyJob {

		@Bean
		static Good early() {
			return new Good();
		}

		@Bean
		static org.springframework.beans.factory.config.BeanFactoryPostProcessor earlyBird() {
			return (beanFactory) -> beanFactory.getBean(Good.class);
		}

	}

}
