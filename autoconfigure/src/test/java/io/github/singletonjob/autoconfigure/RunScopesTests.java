package io.github.singletonjob.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.JobStatus;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import io.github.singletonjob.runtime.RunScope;
import io.github.singletonjob.scope.JobRunScope;
import jakarta.annotation.PreDestroy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.support.ScopeNotActiveException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.util.AopTestUtils;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.web.context.annotation.RequestScope;
import org.springframework.web.context.request.AbstractRequestAttributes;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Beans that live for one run.
 */
@ExtendWith(OutputCaptureExtension.class)
class RunScopesTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop")
		.withUserConfiguration(Beans.class);

	@AfterEach
	void noRequestIsLeftBehind() {
		assertThat(RequestContextHolder.getRequestAttributes()).isNull();
	}

	@Test
	void aBeanOfTheRunIsOneInARunAndAnotherInTheNext() {
		this.runner.run((context) -> {
			Notes notes = context.getBean(Notes.class);
			List<List<String>> seen = new ArrayList<>();
			for (String word : List.of("first", "second")) {
				run(context, "billing", (run) -> {
					notes.add(word);
					notes.add("again");
					seen.add(notes.all());
				});
			}
			assertThat(seen).containsExactly(List.of("first", "again"), List.of("second", "again"));
		});
	}

	@Test
	void aBeanOfTheRunIsDestroyedWhileTheLeaseIsKept() {
		this.runner.run((context) -> {
			run(context, "billing", (run) -> context.getBean(Notes.class).add("work"));
			assertThat(context.getBean(Log.class).lines).containsExactly("notes of billing written, held: true");
		});
	}

	@Test
	void aBeanOfTheRunIsDestroyedWhenTheBodyFails() {
		this.runner.run((context) -> {
			var result = context.getBean(SingletonJobs.class).run("billing", (run) -> {
				context.getBean(Notes.class).add("work");
				throw new IllegalArgumentException("card network down");
			});
			assertThat(result.failure()).hasMessage("card network down");
			assertThat(context.getBean(Log.class).lines).hasSize(1);
		});
	}

	@Test
	void aBeanOfALostRunIsDestroyedToo() {
		this.runner.run((context) -> {
			InMemoryLeaseStore store = (InMemoryLeaseStore) context.getBean(LeaseStore.class);
			var result = context.getBean(SingletonJobs.class).run("billing", (run) -> {
				context.getBean(Notes.class).add("work");
				store.lose("billing");
				org.awaitility.Awaitility.await().atMost(20, TimeUnit.SECONDS).until(() -> !run.isHeld());
			});
			assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
			assertThat(context.getBean(Log.class).lines).containsExactly("notes of billing written, held: false");
		});
	}

	@Test
	void anUnusedBeanOfTheRunIsNeverMade() {
		this.runner.run((context) -> {
			run(context, "billing", (run) -> {
			});
			assertThat(context.getBean(Log.class).lines).isEmpty();
		});
	}

	@Test
	void aBeanOfTheRunFailsClearlyOutsideOfARun() {
		this.runner.run((context) -> {
			Notes notes = context.getBean(Notes.class);
			assertThatThrownBy(notes::all).rootCause()
				.isInstanceOf(IllegalStateException.class)
				.hasMessageContaining("The bean 'notes' lives for one run")
				.hasMessageContaining("there is no run on thread")
				.hasMessageContaining("@SingletonJob");
		});
	}

	@Test
	void aBeanOfTheRunFailsClearlyAfterItsRun() {
		this.runner.run((context) -> {
			Notes notes = context.getBean(Notes.class);
			List<JobRun> ended = new ArrayList<>();
			run(context, "billing", ended::add);
			try (var scope = CurrentJobRun.open(ended.get(0))) {
				assertThatThrownBy(notes::all).rootCause()
					.isInstanceOf(IllegalStateException.class)
					.hasMessageContaining("the run of 'billing' with token " + ended.get(0).token() + " has ended");
			}
		});
	}

	@Test
	void allThreadsOfARunShareItsBeans() {
		this.runner.run((context) -> {
			Notes notes = context.getBean(Notes.class);
			run(context, "billing", (run) -> {
				onAnotherThread(() -> {
					try (var scope = CurrentJobRun.open(run)) {
						notes.add("from another thread");
						return "";
					}
				});
				assertThat(notes.all()).containsExactly("from another thread");
			});
		});
	}

	@Test
	void nestedRunsHaveBeansOfTheirOwn() {
		this.runner.run((context) -> {
			Notes notes = context.getBean(Notes.class);
			run(context, "billing", (outer) -> {
				notes.add("outer");
				run(context, "statements", (inner) -> {
					assertThat(notes.all()).isEmpty();
					notes.add("inner");
				});
				assertThat(notes.all()).containsExactly("outer");
			});
			assertThat(context.getBean(Log.class).lines).containsExactly("notes of statements written, held: true",
					"notes of billing written, held: true");
		});
	}

	@Test
	void theScopeCanBeNamedByItsText() {
		this.runner.run((context) -> {
			ByText byText = context.getBean(ByText.class);
			run(context, "billing", (run) -> assertThat(byText.token()).isEqualTo(run.token()));
		});
	}

	@Test
	void aRequestScopedBeanLivesForOneRunWithoutAWeb() {
		this.runner.run((context) -> {
			Basket basket = context.getBean(Basket.class);
			run(context, "billing", (run) -> {
				basket.add("first");
				assertThat(basket.all()).containsExactly("first");
			});
			run(context, "billing", (run) -> assertThat(basket.all()).isEmpty());
			assertThat(context.getBean(Log.class).lines).containsExactly("basket emptied", "basket emptied");
		});
	}

	@Test
	void beansOfTheRunEndInTheReverseOrderOfTheirCreation() {
		this.runner.withUserConfiguration(InOrder.class).run((context) -> {
			run(context, "billing", (run) -> {
				context.getBean("first", Stage.class).use();
				context.getBean("second", Stage.class).use();
				context.getBean("third", Stage.class).use();
			});
			assertThat(context.getBean(Log.class).lines).containsExactly("third ends", "second ends", "first ends");
		});
	}

	@Test
	void aBeanCanBeMadeWhileAnotherThreadOfTheRunNeedsAnother() {
		this.runner.withUserConfiguration(NeedsAnotherThread.class).run((context) -> {
			Notes notes = context.getBean(Notes.class);
			List<String> made = new ArrayList<>();
			run(context, "billing", (run) -> {
				context.getBean(Creation.class).task = () -> onAnotherThread(() -> {
					try (var scope = CurrentJobRun.open(run)) {
						notes.add("made by the task");
						return "";
					}
				});
				made.add(context.getBean("slow", Stage.class).use());
				made.addAll(notes.all());
			});
			assertThat(made).containsExactly("slow", "made by the task");
		});
	}

	@Test
	void aRequestScopedBeanIsRefusedToATaskThatOutlivesItsRun() {
		this.runner.run((context) -> {
			Basket basket = context.getBean(Basket.class);
			RequestAttributes[] kept = new RequestAttributes[1];
			run(context, "billing", (run) -> {
				basket.add("first");
				kept[0] = RequestContextHolder.getRequestAttributes();
			});
			RequestContextHolder.setRequestAttributes(kept[0]);
			try {
				assertThatThrownBy(basket::all).isInstanceOf(ScopeNotActiveException.class)
					.rootCause()
					.hasMessageContaining("has ended")
					.hasMessageContaining("wait for it");
			}
			finally {
				RequestContextHolder.resetRequestAttributes();
			}
		});
	}

	@Test
	void theBeansOfAJobThatReturnsAStageLiveUntilItIsCompleted() {
		this.runner.withUserConfiguration(Staged.class).run((context) -> {
			Staged job = context.getBean(Staged.class);
			CompletableFuture<Void> ended = job.report();
			Staged target = AopTestUtils.getTargetObject(job);
			assertThat(RequestContextHolder.getRequestAttributes()).isNull();
			assertThat(context.getBean(Log.class).lines).isEmpty();
			try (var scope = CurrentJobRun.open(target.run)) {
				assertThat(context.getBean(Notes.class).all()).containsExactly("begun");
			}
			target.work.complete(null);
			assertThat(ended).succeedsWithin(java.time.Duration.ofSeconds(10));
			assertThat(context.getBean(Log.class).lines)
				.containsExactlyInAnyOrder("notes of report written, held: true", "basket emptied");
		});
	}

	@Test
	void aRequestThatIsBoundStays() {
		this.runner.run((context) -> {
			RequestAttributes bound = new OtherRequest();
			RequestContextHolder.setRequestAttributes(bound);
			try {
				run(context, "billing",
						(run) -> assertThat(RequestContextHolder.getRequestAttributes()).isSameAs(bound));
				assertThat(RequestContextHolder.getRequestAttributes()).isSameAs(bound);
			}
			finally {
				RequestContextHolder.resetRequestAttributes();
			}
		});
	}

	@Test
	void aNestedRunHasTheRequestOfTheRunAroundIt() {
		this.runner.run((context) -> {
			Basket basket = context.getBean(Basket.class);
			run(context, "billing", (outer) -> {
				basket.add("outer");
				run(context, "statements", (inner) -> assertThat(basket.all()).containsExactly("outer"));
				assertThat(basket.all()).containsExactly("outer");
			});
		});
	}

	@Test
	void aRunHasNoSession() {
		this.runner.run((context) -> run(context, "billing",
				(run) -> assertThatIllegalStateException()
					.isThrownBy(() -> RequestContextHolder.currentRequestAttributes()
						.getAttribute("cart", RequestAttributes.SCOPE_SESSION))
					.withMessageContaining("no web session")));
	}

	@Test
	void withoutSpringWebJobsRunAsBefore() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class))
			.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop")
			.withClassLoader(new FilteredClassLoader("org.springframework.web", "io.micrometer.context"))
			.run((context) -> {
				assertThat(context).hasNotFailed().doesNotHaveBean("singletonJobRunRequest");
				run(context, "billing", (run) -> assertThat(run.isHeld()).isTrue());
			});
	}

	@Test
	void aScopeThatCannotBeOpenedFailsTheRunAndClosesTheOthers() {
		this.runner.withUserConfiguration(BrokenScope.class).run((context) -> {
			var result = context.getBean(SingletonJobs.class)
				.run("billing", (run) -> context.getBean(Log.class).add("body"));
			assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
			assertThat(result.failure()).hasMessage("no room");
			assertThat(context.getBean(Log.class).lines).isEmpty();
		});
	}

	@Test
	void aScopeThatEndsWithAnErrorKeepsNoLease() {
		this.runner.withBean("failingScope", RunScope.class, () -> (run) -> new RunScope.Opened() {

			@Override
			public void close() {
			}

			@Override
			public void end() {
				throw new AssertionError("no room to end in");
			}

		}).run((context) -> {
			run(context, "billing", (run) -> {
			});
			assertThat(context.getBean(SingletonJobs.class).jobs()).singleElement()
				.satisfies((job) -> assertThat(job.lease().state()).isEqualTo(JobStatus.State.FREE));
		});
	}

	@Test
	void aScopeThatCannotBeClosedHarmsNothing(CapturedOutput output) {
		this.runner.withUserConfiguration(StuckScope.class)
			.run((context) -> run(context, "billing", (run) -> assertThat(run.isHeld()).isTrue()));
		assertThat(output).contains("billing: closing the scope of the run with token").contains("door is stuck");
	}

	private static void run(ApplicationContext context, String job, io.github.singletonjob.JobBody body) {
		var result = context.getBean(SingletonJobs.class).run(job, body);
		assertThat(result.failure()).isNull();
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
	}

	private static <T> T onAnotherThread(Supplier<T> work) throws Exception {
		return CompletableFuture.supplyAsync(work).get(10, TimeUnit.SECONDS);
	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		Log log() {
			return new Log();
		}

		@Bean
		@JobRunScope
		Notes notes(JobRun run, Log log) {
			return new Notes(run, log);
		}

		@Bean
		@Scope(value = "job-run", proxyMode = ScopedProxyMode.TARGET_CLASS)
		ByText byText() {
			return new ByText(JobRun.current().token());
		}

		@Bean
		@RequestScope
		Basket basket(Log log) {
			return new Basket(log);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BrokenScope {

		@Bean
		RunScope brokenScope() {
			return (run) -> {
				throw new IllegalArgumentException("no room");
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class StuckScope {

		@Bean
		RunScope stuckScope() {
			return (run) -> () -> {
				throw new IllegalArgumentException("door is stuck");
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InOrder {

		@Bean
		@JobRunScope
		Stage first(Log log) {
			return new Stage("first", log);
		}

		@Bean
		@JobRunScope
		Stage second(Log log) {
			return new Stage("second", log);
		}

		@Bean
		@JobRunScope
		Stage third(Log log) {
			return new Stage("third", log);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeedsAnotherThread {

		@Bean
		Creation creation() {
			return new Creation();
		}

		@Bean
		@JobRunScope
		Stage slow(Log log, Creation creation) throws Exception {
			creation.task.call();
			return new Stage("slow", log);
		}

	}

	static class Creation {

		private Callable<String> task;

	}

	static class Stage {

		private final String name;

		private final Log log;

		Stage(String name, Log log) {
			this.name = name;
			this.log = log;
		}

		String use() {
			return this.name;
		}

		@PreDestroy
		void end() {
			this.log.add(this.name + " ends");
		}

	}

	static class Staged {

		private final CompletableFuture<Void> work = new CompletableFuture<>();

		private final Notes notes;

		private final Basket basket;

		private JobRun run;

		Staged(Notes notes, Basket basket) {
			this.notes = notes;
			this.basket = basket;
		}

		@SingletonJob("report")
		CompletableFuture<Void> report() {
			this.run = JobRun.current();
			this.notes.add("begun");
			this.basket.add("begun");
			return this.work;
		}

	}

	static class Log {

		final List<String> lines = new ArrayList<>();

		void add(String line) {
			this.lines.add(line);
		}

	}

	static class Notes {

		private final List<String> words = new ArrayList<>();

		private final JobRun run;

		private final Log log;

		Notes(JobRun run, Log log) {
			this.run = run;
			this.log = log;
		}

		void add(String word) {
			this.words.add(word);
		}

		List<String> all() {
			return List.copyOf(this.words);
		}

		@PreDestroy
		void write() {
			this.log.add("notes of " + this.run.job() + " written, held: " + this.run.isHeld());
		}

	}

	static class ByText {

		private final long token;

		ByText(long token) {
			this.token = token;
		}

		long token() {
			return this.token;
		}

	}

	static class Basket {

		private final List<String> items = new ArrayList<>();

		private final Log log;

		Basket(Log log) {
			this.log = log;
		}

		void add(String item) {
			this.items.add(item);
		}

		List<String> all() {
			return List.copyOf(this.items);
		}

		@PreDestroy
		void empty() {
			this.log.add("basket emptied");
		}

	}

	static class OtherRequest extends AbstractRequestAttributes {

		@Override
		public Object getAttribute(String name, int scope) {
			return null;
		}

		@Override
		public void setAttribute(String name, Object value, int scope) {
		}

		@Override
		public void removeAttribute(String name, int scope) {
		}

		@Override
		public String[] getAttributeNames(int scope) {
			return new String[0];
		}

		@Override
		public void registerDestructionCallback(String name, Runnable callback, int scope) {
		}

		@Override
		public Object resolveReference(String key) {
			return null;
		}

		@Override
		public String getSessionId() {
			return "";
		}

		@Override
		public Object getSessionMutex() {
			return this;
		}

		@Override
		protected void updateAccessedSessionAttributes() {
		}

	}

}
