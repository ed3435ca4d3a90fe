package io.github.singletonjob.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.test.context.support.TestPropertySourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The lease is taken before the transaction begins and given back after it has committed,
 * whatever enables transactions, and in whichever order.
 */
class TransactionOrderTests {

	private static final String[] EXPECTED = { "acquire", "begin", "body", "commit", "release" };

	static Stream<List<Class<?>>> orders() {
		Class<?> jobs = SingletonJobAutoConfiguration.class;
		Class<?> aop = AopAutoConfiguration.class;
		return Stream.of(List.of(Transactions.class, jobs, Billing.class),
				List.of(jobs, Transactions.class, Billing.class), List.of(Billing.class, Transactions.class, jobs),
				List.of(Billing.class, jobs, Transactions.class), List.of(Transactions.class, aop, jobs, Billing.class),
				List.of(aop, jobs, Billing.class, Transactions.class),
				List.of(jobs, Billing.class, Transactions.class, aop),
				List.of(TransactionsOutside.class, jobs, Billing.class));
	}

	@ParameterizedTest
	@MethodSource("orders")
	void theLeaseLiesOutsideOfTheTransaction(List<Class<?>> order) {
		try (AnnotationConfigApplicationContext context = context(order)) {
			context.getBean(Billing.class).charge();
			assertThat(context.getBean(Journal.class).lines).containsExactly(EXPECTED);
		}
	}

	@Test
	void theLeaseLiesOutsideOfTheTransactionOfAnAsynchronousJob() {
		try (AnnotationConfigApplicationContext context = context(
				List.of(AsyncOn.class, Transactions.class, SingletonJobAutoConfiguration.class, AsyncBilling.class))) {
			context.getBean(AsyncBilling.class).charge();
			org.awaitility.Awaitility.await()
				.untilAsserted(() -> assertThat(context.getBean(Journal.class).lines).containsExactly(EXPECTED));
		}
	}

	@Test
	void transactionsThatWereOrderedAroundTheJobFailTheStart() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
			.withPropertyValues("singleton-job.namespace=shop", "singleton-job.store=in-memory")
			.withUserConfiguration(TransactionsFirst.class, Billing.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidJobException.class)
				.hasMessageContaining("ordered around the job"));
	}

	@Test
	void noJobIsStartedInsideAnOpenTransaction() {
		try (AnnotationConfigApplicationContext context = contextOfAllWays()) {
			TransactionTemplate template = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			assertNoneIsStarted(context, (way) -> template.executeWithoutResult((status) -> way.run()));
			assertThat(context.getBean(Journal.class).lines).containsOnly("begin", "rollback");
		}
	}

	@Test
	void noJobIsStartedWhileItsThreadHasBegunATransactionOnAGuardedConnection() throws SQLException {
		try (AnnotationConfigApplicationContext context = contextOfAllWays();
				Connection connection = FencedDataSources
					.guard(new DriverManagerDataSource("jdbc:h2:mem:open-transaction"))
					.getConnection()) {
			connection.setAutoCommit(false);
			assertNoneIsStarted(context, Runnable::run);
			assertThat(context.getBean(Journal.class).lines).isEmpty();
			connection.commit();
			context.getBean(Billing.class).charge();
			assertThat(context.getBean(Journal.class).lines).containsExactly(EXPECTED);
		}
	}

	private static AnnotationConfigApplicationContext contextOfAllWays() {
		return context(
				List.of(Transactions.class, SingletonJobAutoConfiguration.class, Billing.class, StageBilling.class));
	}

	private static void assertNoneIsStarted(AnnotationConfigApplicationContext context, Consumer<Runnable> inside) {
		List<Runnable> ways = List.of(() -> context.getBean(Billing.class).charge(),
				() -> context.getBean(StageBilling.class).charge(),
				() -> context.getBean(SingletonJobs.class).run("mails", (run) -> {
					throw new AssertionError();
				}));
		for (Runnable way : ways) {
			assertThatIllegalStateException().isThrownBy(() -> inside.accept(way))
				.withMessageContaining("not started inside an open transaction");
		}
	}

	private static AnnotationConfigApplicationContext context(List<Class<?>> order) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		TestPropertySourceUtils.addInlinedPropertiesToEnvironment(context, "singleton-job.namespace=shop");
		context.register(Journal.class);
		order.forEach(context::register);
		context.refresh();
		return context;
	}

	static class Billing {

		private final Journal journal;

		Billing(Journal journal) {
			this.journal = journal;
		}

		@Transactional
		@SingletonJob("billing")
		public void charge() {
			this.journal.lines.add("body");
		}

	}

	static class StageBilling {

		private final Journal journal;

		StageBilling(Journal journal) {
			this.journal = journal;
		}

		@SingletonJob("stages")
		public CompletionStage<Void> charge() {
			this.journal.lines.add("body");
			return CompletableFuture.completedFuture(null);
		}

	}

	static class AsyncBilling {

		private final Journal journal;

		AsyncBilling(Journal journal) {
			this.journal = journal;
		}

		@Async
		@Transactional
		@SingletonJob("billing")
		public void charge() {
			this.journal.lines.add("body");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class AsyncOn {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Transactions {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true, order = SingletonJobAdvisor.ORDER + 1)
	static class TransactionsOutside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 0)
	static class TransactionsFirst {

		@Bean
		Journal journal() {
			return new Journal();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Journal {

		final List<String> lines = new CopyOnWriteArrayList<>();

		@Bean
		static PlatformTransactionManager transactionManager(Journal journal) {
			return new RecordingTransactionManager(journal.lines);
		}

		@Bean
		static LeaseStore leaseStore(Journal journal) {
			return new RecordingStore(journal.lines);
		}

	}

	@SuppressWarnings("serial")
	private static final class RecordingTransactionManager extends AbstractPlatformTransactionManager {

		private final List<String> lines;

		private RecordingTransactionManager(List<String> lines) {
			this.lines = lines;
		}

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			this.lines.add("begin");
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			this.lines.add("commit");
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			this.lines.add("rollback");
		}

	}

	private record RecordingStore(List<String> lines, InMemoryLeaseStore store) implements LeaseStore {

		RecordingStore(List<String> lines) {
			this(lines, new InMemoryLeaseStore());
		}

		@Override
		public Acquisition tryAcquire(LeaseRequest request) {
			this.lines.add("acquire");
			return this.store.tryAcquire(request);
		}

		@Override
		public List<Renewal> renew(List<LeaseGrant> grants) {
			return this.store.renew(grants);
		}

		@Override
		public boolean complete(LeaseGrant grant, Instant completed) {
			return this.store.complete(grant, completed);
		}

		@Override
		public LeaseRecord inspect(JobId job, Duration timeout) {
			return this.store.inspect(job, timeout);
		}

		@Override
		public boolean release(LeaseGrant grant, @Nullable Instant completed) {
			this.lines.add("release");
			return this.store.release(grant, completed);
		}

	}

}
