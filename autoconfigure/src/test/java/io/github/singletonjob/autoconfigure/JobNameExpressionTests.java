package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Jobs whose names depend on the arguments of the call.
 */
class JobNameExpressionTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop");

	@Test
	void eachValueIsAJobOfItsOwn() {
		this.runner.withUserConfiguration(Tenants.class).run((context) -> {
			Tenants tenants = context.getBean(Tenants.class);
			RunResult result = context.getBean(SingletonJobs.class)
				.run("billing-north", (run) -> CompletableFuture.runAsync(() -> {
					tenants.charge("north");
					tenants.charge("south");
				}).orTimeout(20, TimeUnit.SECONDS).join());
			assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
			assertThat(tenants.runs()).containsExactly("billing-south");
		});
	}

	@Test
	void theSettingsAreThoseOfTheDeclaredName() {
		this.runner.withUserConfiguration(Tenants.class)
			.withPropertyValues("singleton-job.jobs.[billing-#{#tenant}].ttl=42s")
			.run((context) -> {
				context.getBean(Tenants.class).charge("north");
				assertThat(context.getBean(Tenants.class).ttls()).containsExactly(Duration.ofSeconds(42));
				assertThat(context.getBean(JobNames.class).declared("billing-north")).isEqualTo("billing-#{#tenant}");
			});
	}

	@Test
	void aPartThatIsNullOrEmptyIsRefusedAndNothingRuns() {
		this.runner.withUserConfiguration(Tenants.class).run((context) -> {
			Tenants tenants = context.getBean(Tenants.class);
			assertThatIllegalArgumentException().isThrownBy(() -> tenants.charge(null))
				.withMessageContaining("#{#tenant}")
				.withMessageContaining("null or empty");
			assertThatIllegalArgumentException().isThrownBy(() -> tenants.charge(" "));
			assertThatIllegalArgumentException().isThrownBy(() -> tenants.charge("x".repeat(300)))
				.withMessageContaining("at most 300");
			assertThat(tenants.runs()).isEmpty();
		});
	}

	@Test
	void anExpressionThatFailsSaysWhichAndNothingRuns() {
		this.runner.withUserConfiguration(Failing.class)
			.run((context) -> assertThatIllegalArgumentException()
				.isThrownBy(() -> context.getBean(Failing.class).charge("north"))
				.withMessageContaining("cannot be evaluated for this call"));
	}

	@Test
	void anExpressionThatCannotBeReadFailsTheStart() {
		this.runner.withUserConfiguration(Unreadable.class)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("cannot be read"));
	}

	@Test
	void aBeanCanBeAsked() {
		this.runner.withUserConfiguration(Region.class)
			.withBean("region", String.class, () -> "eu")
			.run((context) -> assertThat(context.getBean(Region.class).name()).contains("import-eu"));
	}

	@Configuration(proxyBeanMethods = false)
	static class Tenants {

		private final List<String> runs = new CopyOnWriteArrayList<>();

		private final List<Duration> ttls = new CopyOnWriteArrayList<>();

		@SingletonJob("billing-#{#tenant}")
		public void charge(@Nullable String tenant) {
			this.runs.add(JobRun.current().job());
			this.ttls.add(((LeasedRun) JobRun.current()).ttl());
		}

		public List<String> runs() {
			return this.runs;
		}

		public List<Duration> ttls() {
			return this.ttls;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Failing {

		@SingletonJob("billing-#{#tenant.nothing()}")
		public void charge(String tenant) {
			throw new AssertionError("must not run");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Unreadable {

		@SingletonJob("billing-#{#tenant")
		public void charge(String tenant) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Region {

		@SingletonJob("import-#{@region}")
		public Optional<String> name() {
			return Optional.of(JobRun.current().job());
		}

	}

}
