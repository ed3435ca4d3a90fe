package io.github.singletonjob.autoconfigure;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.autoconfigure.elsewhere.NightlyBase;
import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.lease.Fence;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.Mockito;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.Ordered;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Beans that are created early, late, scoped, mocked or behind other proxies.
 */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class UnusualBeansTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop",
				"singleton-job.holder=server-1");

	/** Spring 7 pauses and restarts cached test contexts; CRaC stops and starts them. */
	@Test
	void jobsRunAgainAfterTheContextWasStoppedAndStarted() {
		this.runner.run((context) -> {
			context.stop();
			context.start();
			assertThat(context.getBean(SingletonJobs.class).run("billing", (run) -> {
			}).outcome()).isEqualTo(RunOutcome.COMPLETED);
		});
	}

	@Test
	@Tag("boot-4") // a context cannot be paused before Spring Framework 7
	void jobsRunAgainAfterTheContextWasPausedAndRestarted() {
		this.runner.run((context) -> {
			org.springframework.context.ConfigurableApplicationContext source = context.getSourceApplicationContext();
			source.pause();
			source.restart();
			assertThat(context.getBean(SingletonJobs.class).run("billing", (run) -> {
			}).outcome()).isEqualTo(RunOutcome.COMPLETED);
		});
	}

	@Test
	void aDataSourceThatAPostProcessorNeedsEarlyIsGuarded(CapturedOutput output) {
		this.runner.withUserConfiguration(OneDataSource.class, EarlyBird.class)
			.withPropertyValues("singleton-job.fencing.required=true")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(FencedDataSources.isGuarded(context.getBean(DataSource.class))).isTrue();
				assertThat(output).doesNotContain("Not fenced");
			});
	}

	@Test
	void theDefaultCandidateAmongDataSourcesIsGuarded() {
		this.runner.withUserConfiguration(OneDataSource.class, SecondDataSource.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBeanProvider(DataSource.class).getIfUnique()).as("what everybody is injected")
				.isNotNull();
			assertThat(FencedDataSources.isGuarded(context.getBean("dataSource", DataSource.class))).isTrue();
		});
	}

	@Test
	void aPoolBelowThePrimaryDataSourceIsGuardedAndNoOther(CapturedOutput output) {
		this.runner.withUserConfiguration(PrimaryAboveAPool.class).run((context) -> {
			assertThat(context).hasNotFailed();
			DataSource pool = context.getBean("pool", DataSource.class);
			assertThat(FencedDataSources.isGuarded(pool)).isTrue();
			assertThat(context.getBean("primary", DelegatingDataSource.class).getTargetDataSource()).isSameAs(pool);
			assertThat(FencedDataSources.isGuarded(context.getBean("other", DataSource.class))).isFalse();
			assertThat(AopUtils.isAopProxy(context.getBean("leases"))).isFalse();
			assertThat(output.getOut().lines().filter((line) -> line.contains("Not fenced"))).singleElement()
				.asString()
				.contains("write: DataSource bean 'other'. Guard");
		});
	}

	/** Such as Spring Cloud's refresh scope. */
	@Test
	void aDataSourceInAScopeIsFencedEachTimeThatItIsMade(CapturedOutput output) {
		Map<String, Object> beans = new ConcurrentHashMap<>();
		this.runner
			.withInitializer((context) -> context.getBeanFactory().registerScope("refresh", new SimpleThreadScope() {
				@Override
				public Object get(String name, ObjectFactory<?> objectFactory) {
					return beans.computeIfAbsent(name, (key) -> objectFactory.getObject());
				}
			}))
			.withUserConfiguration(ScopedDataSource.class)
			.withPropertyValues("singleton-job.fencing.required=true")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				DataSource dataSource = context.getBean(DataSource.class);
				Object first = beans.get("scopedTarget.dataSource");
				assertIsFenced(context, dataSource, "create table invoice (id int)");
				beans.clear();
				assertIsFenced(context, dataSource, "insert into invoice values (1)");
				assertThat(beans.get("scopedTarget.dataSource")).isNotSameAs(first);
				assertThat(output).doesNotContain("Not fenced");
			});
	}

	private static void assertIsFenced(ApplicationContext context, DataSource dataSource, String outside)
			throws SQLException {
		try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute(outside);
		}
		RunResult result = context.getBean(SingletonJobs.class).run("billing", (run) -> {
			try (Connection connection = dataSource.getConnection();
					Statement statement = connection.createStatement()) {
				statement.execute("insert into invoice values (2)");
			}
			try (Connection connection = FencedDataSources.unguarded(dataSource).getConnection();
					Statement statement = connection.createStatement()) {
				statement.execute("update singleton_job set token = token + 1, owner = 'newer'");
			}
			try (Connection connection = dataSource.getConnection();
					Statement statement = connection.createStatement()) {
				statement.execute("insert into invoice values (3)");
			}
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		try (Connection connection = dataSource.getConnection();
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery("select max(id) from invoice")) {
			rows.next();
			assertThat(rows.getInt(1)).isEqualTo(2);
		}
	}

	@Test
	void aDataSourceOfALaterAutoConfigurationIsFencedOrLeftAlone() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class,
					ZzzDataSourceAutoConfiguration.class))
			.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop")
			.run((context) -> {
				boolean guarded = FencedDataSources.isGuarded(context.getBean(DataSource.class));
				boolean raised = context.getBeansOfType(Fence.class).size() == 1;
				assertThat(guarded).as("guarded, while there is a fence to raise: " + raised).isEqualTo(raised);
			});
	}

	@Test
	void aJobThatATestMocksDoesNotFailTheStart() {
		this.runner.withInitializer((context) -> {
			// What @MockitoBean does
			ConfigurableListableBeanFactory factory = context.getBeanFactory();
			((org.springframework.beans.factory.support.BeanDefinitionRegistry) factory)
				.registerBeanDefinition("billing", new RootBeanDefinition(Billing.class));
			factory.registerSingleton("billing", Mockito.mock(Billing.class));
		}).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aJobInAScopedBeanCanBeProxied() {
		this.runner
			.withInitializer((context) -> context.getBeanFactory().registerScope("thread", new SimpleThreadScope()))
			.withUserConfiguration(ScopedJob.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				AtomicReference<Boolean> inside = new AtomicReference<>();
				context.getBean(ScopedJob.Work.class).work(inside);
				assertThat(inside.get()).isTrue();
			});
	}

	@Test
	void aPackagePrivateJobOfAnotherPackageIsRefused() {
		this.runner.withUserConfiguration(Nightly.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidJobException.class)
				.hasMessageContaining("Nightly.tidy()")
				.hasMessageContaining("is package-private in " + NightlyBase.class.getName()));
	}

	@Test
	void twoJobsOfOneNameFailTheStartAlsoBehindInterfaceProxies() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
			.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop",
					"spring.aop.proxy-target-class=false")
			.withUserConfiguration(FirstTask.class, SecondTask.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidJobException.class)
				.hasMessageContaining("Two jobs have the name 'same'")
				.hasMessageContaining("FirstTask.first()")
				.hasMessageContaining("SecondTask.second()"));
	}

	@Test
	void anInjectedRunThatIsOpenedOnAnotherThreadIsRefused() {
		this.runner.withUserConfiguration(Injected.class).run((context) -> {
			JobRun injected = context.getBean(Injected.class).run;
			RunResult result = context.getBean(SingletonJobs.class).run("billing", (run) -> {
				AtomicReference<Throwable> failure = new AtomicReference<>();
				Thread thread = daemon(() -> {
					try (var scope = CurrentJobRun.open(injected)) {
						JobRun.current().isHeld();
					}
					catch (Throwable ex) {
						failure.set(ex);
					}
				});
				thread.start();
				thread.join(10_000);
				assertThat(thread.isAlive()).isFalse();
				assertThat(failure.get()).isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("Hand over JobRun.current()");
			});
			assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		});
	}

	@Test
	void aLazyBeanWithAMethodOfAMissingTypeDoesNotFailTheStart() throws Exception {
		ClassLoader hiding = new HidingLoader(getClass().getClassLoader());
		Class<?> broken = hiding.loadClass(Broken.class.getName());
		this.runner.withInitializer((context) -> {
			RootBeanDefinition definition = new RootBeanDefinition(broken);
			definition.setLazyInit(true);
			((org.springframework.beans.factory.support.BeanDefinitionRegistry) context.getBeanFactory())
				.registerBeanDefinition("broken", definition);
		}).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void theThreadsOfAClosedContextEndWhenItsLastBodyDoes() throws Exception {
		CountDownLatch inside = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		AtomicReference<Thread> body = new AtomicReference<>();
		Set<Thread> before = timers();
		this.runner.withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=500ms").run((context) -> {
			context.getBeanFactory()
				.getBean("lifecycleProcessor", org.springframework.context.support.DefaultLifecycleProcessor.class)
				.setTimeoutPerShutdownPhase(500);
			SingletonJobs jobs = context.getBean(SingletonJobs.class);
			Thread thread = daemon(() -> jobs.run("billing", (run) -> {
				inside.countDown();
				while (release.getCount() > 0) {
					try {
						release.await();
					}
					catch (InterruptedException ex) {
						// stubborn
					}
				}
			}));
			thread.start();
			body.set(thread);
			assertThat(inside.await(10, TimeUnit.SECONDS)).isTrue();
		});
		assertThat(timers()).as("timer threads under the last body").anyMatch((timer) -> !before.contains(timer));
		release.countDown();
		body.get().join(5000);
		assertThat(body.get().isAlive()).isFalse();
		org.awaitility.Awaitility.await()
			.atMost(10, TimeUnit.SECONDS)
			.untilAsserted(() -> assertThat(before).as("timer threads after the last body").containsAll(timers()));
	}

	@Test
	void theThreadsOfTheLibraryInheritNothingFromTheFirstJob() {
		InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
		AtomicReference<String> seen = new AtomicReference<>("nothing");
		CountDownLatch told = new CountDownLatch(1);
		this.runner.run((context) -> {
			context.getSourceApplicationContext().addApplicationListener((event) -> {
				if (event instanceof org.springframework.context.PayloadApplicationEvent<?> payload
						&& payload.getPayload() instanceof io.github.singletonjob.JobRunEvent.Lost) {
					seen.set(String.valueOf(tenant.get()));
					told.countDown();
				}
			});
			tenant.set("tenant of the first job");
			io.github.singletonjob.memory.InMemoryLeaseStore store = context
				.getBean(io.github.singletonjob.memory.InMemoryLeaseStore.class);
			context.getBean(SingletonJobs.class)
				.run("billing", io.github.singletonjob.JobOptions.defaults().withTtl(Duration.ofSeconds(2)), (run) -> {
					store.lose("billing");
					told.await(10, TimeUnit.SECONDS);
				});
			tenant.remove();
			told.await(10, TimeUnit.SECONDS);
			assertThat(seen.get()).isEqualTo("null");
		});
	}

	@Test
	void withLazyInitializationAMissingStoreStillFailsTheStart() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
			.withPropertyValues("singleton-job.namespace=shop")
			.withInitializer((context) -> context
				.addBeanFactoryPostProcessor(new org.springframework.boot.LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThat(context).getFailure().rootCause().isInstanceOf(NoLeaseStoreException.class));
	}

	private static Thread daemon(Runnable work) {
		Thread thread = new Thread(work);
		thread.setDaemon(true);
		return thread;
	}

	private static Set<Thread> timers() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("singleton-job-timer"))
			.collect(Collectors.toSet());
	}

	static DataSource nowhere() {
		return new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:1/none");
	}

	@Configuration(proxyBeanMethods = false)
	static class OneDataSource {

		@Bean
		DataSource dataSource() {
			return nowhere();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SecondDataSource {

		// As Boot's reference has it for a second DataSource
		@Bean(defaultCandidate = false)
		DataSource reporting() {
			return nowhere();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryAboveAPool {

		@Bean
		DataSource pool() {
			return nowhere();
		}

		@Bean
		@Primary
		DelegatingDataSource primary(@Qualifier("pool") DataSource pool) {
			return new DelegatingDataSource(pool);
		}

		@Bean
		DataSource other() {
			return nowhere();
		}

		@Bean
		@SingletonJobDataSource
		DataSource leases() {
			return nowhere();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedDataSource {

		@Bean
		@Scope(value = "refresh", proxyMode = ScopedProxyMode.TARGET_CLASS)
		DataSource dataSource() {
			return new DriverManagerDataSource("jdbc:h2:mem:scoped;DB_CLOSE_DELAY=-1");
		}

	}

	@AutoConfiguration(after = SingletonJobAutoConfiguration.class)
	static class ZzzDataSourceAutoConfiguration {

		@Bean
		DataSource dataSource() {
			return nowhere();
		}

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

	static class Billing {

		@SingletonJob("billing")
		void charge() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedJob {

		@Bean
		@Scope(value = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Work work() {
			return new Work();
		}

		static class Work {

			@SingletonJob("scoped")
			void work(AtomicReference<Boolean> inside) {
				inside.set(CurrentJobRun.find().isPresent());
			}

		}

	}

	static class Nightly extends NightlyBase {

	}

	interface First {

		void first();

	}

	interface Second {

		void second();

	}

	static class FirstTask implements First {

		@Override
		@SingletonJob("same")
		public void first() {
		}

	}

	static class SecondTask implements Second {

		@Override
		@SingletonJob("same")
		public void second() {
		}

	}

	static class Injected {

		@Autowired
		@Nullable JobRun run;

	}

	public static class Missing {

	}

	@Lazy
	public static class Broken {

		void accept(Missing missing) {
		}

	}

	/** Loads one class by itself and hides another one. */
	static class HidingLoader extends ClassLoader {

		HidingLoader(ClassLoader parent) {
			super(parent);
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (name.equals(Missing.class.getName())) {
				throw new ClassNotFoundException(name);
			}
			if (name.equals(Broken.class.getName())) {
				Class<?> known = findLoadedClass(name);
				if (known != null) {
					return known;
				}
				try (var in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
					byte[] bytes = in.readAllBytes();
					return defineClass(name, bytes, 0, bytes.length);
				}
				catch (java.io.IOException ex) {
					throw new ClassNotFoundException(name, ex);
				}
			}
			return super.loadClass(name, resolve);
		}

	}

}
