package io.github.singletonjob.rows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.fencing.JdbcFence;
import io.github.singletonjob.lease.Fence.Raised;
import io.github.singletonjob.lease.LeasedRun;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What each way of fencing catches: the table in {@code docs/fencing.md}, one test for
 * each cell. A run with token 33 that has been overtaken without knowing it writes after
 * the run with token 34 has begun.
 */
@Timeout(120)
class FencingTableTests {

	private static final Path PAGE = Path.of("../../docs/fencing.md");

	private static final Map<StaleWrite, Set<Way>> CAUGHT = Map.of( //
			StaleWrite.STALE_UPDATE, EnumSet.allOf(Way.class), //
			StaleWrite.STALE_ENTITY, EnumSet.allOf(Way.class), //
			StaleWrite.UNTOUCHED_ROW, EnumSet.of(Way.TRANSACTION_FENCE), //
			StaleWrite.BULK_UPDATE, EnumSet.complementOf(EnumSet.of(Way.JPA_ATTRIBUTE)), //
			StaleWrite.DELETE, EnumSet.allOf(Way.class), //
			StaleWrite.INSERT, EnumSet.of(Way.TRANSACTION_FENCE));

	private static final InvoiceDatabase database = new InvoiceDatabase();

	private static ConfigurableApplicationContext fenced;

	private static ConfigurableApplicationContext unfenced;

	private final LeasedRun old = Runs.of("billing", 33);

	private final LeasedRun newer = Runs.of("billing", 34);

	@BeforeAll
	static void start() {
		fenced = InvoiceApplication.start(database.url(), true);
		unfenced = InvoiceApplication.start(database.url(), false);
	}

	@AfterAll
	static void close() {
		fenced.close();
		unfenced.close();
	}

	@BeforeEach
	void reset() {
		database.reset();
		database.execute("delete from singleton_job");
		raise(this.old);
	}

	static Stream<Arguments> cells() {
		return Arrays.stream(StaleWrite.values())
			.flatMap((write) -> Arrays.stream(Way.values())
				.map((way) -> Arguments.of(write, way, CAUGHT.get(write).contains(way))));
	}

	@ParameterizedTest(name = "{0} by {1}: {2}")
	@MethodSource("cells")
	void cell(StaleWrite write, Way way, boolean caught) {
		Writes writes = way.checked(way == Way.TRANSACTION_FENCE ? fenced : unfenced);
		Throwable refusal = attempt(write, writes);
		assertThat(isDone(write)).as("written by the stale run").isEqualTo(!caught);
		assertThat(isRefusal(refusal)).as("refusal %s", refusal).isEqualTo(caught);
	}

	static Stream<Arguments> checks() {
		return cells().filter((cell) -> (boolean) cell.get()[2]);
	}

	@ParameterizedTest(name = "{0} by {1}")
	@MethodSource("checks")
	void withoutItsCheckTheSameWriteIsDone(StaleWrite write, Way way, boolean caught) {
		assertThat(attempt(write, way.unchecked(unfenced, write))).isNull();
		assertThat(isDone(write)).as("written by the stale run").isTrue();
	}

	@Test
	void theDocumentationHasTheSameTable() throws IOException {
		List<List<String>> rows = Files.readAllLines(PAGE)
			.stream()
			.dropWhile((line) -> !line.startsWith("## What each way catches"))
			.dropWhile((line) -> !line.startsWith("|"))
			.takeWhile((line) -> line.startsWith("|"))
			.map((line) -> Arrays.stream(line.substring(1).split("\\|")).map(String::trim).toList())
			.toList();
		assertThat(rows).hasSize(2 + StaleWrite.values().length);
		assertThat(rows.get(0)).containsExactly("what the stale run does", "transaction fence", "JDBC row fence",
				"JPA attribute", "Spring Data query");
		Iterator<List<String>> cells = rows.listIterator(2);
		for (StaleWrite write : StaleWrite.values()) {
			List<String> row = cells.next();
			assertThat(row.get(0)).startsWith(write.toString());
			assertThat(row.subList(1, row.size())).as(row.get(0))
				.containsExactlyElementsOf(Arrays.stream(Way.values())
					.map((way) -> CAUGHT.get(write).contains(way) ? "caught" : "–")
					.toList());
		}
	}

	private Throwable attempt(StaleWrite write, Writes writes) {
		boolean touched = write != StaleWrite.UNTOUCHED_ROW;
		if (write != StaleWrite.STALE_ENTITY) {
			overtake(touched);
		}
		return catchThrowable(() -> Runs.in(this.old, () -> {
			switch (write) {
				case STALE_UPDATE, UNTOUCHED_ROW -> writes.update(1, () -> {
				});
				case STALE_ENTITY -> writes.update(1, () -> overtake(true));
				case BULK_UPDATE -> writes.updateAll();
				case DELETE -> writes.delete(1);
				case INSERT -> writes.insert(3);
			}
		}));
	}

	private void overtake(boolean touch) {
		raise(this.newer);
		if (touch) {
			database.write(this.newer.token());
		}
	}

	private static void raise(LeasedRun run) {
		JdbcFence fence = new JdbcFence(fenced.getBean(DataSource.class));
		assertThat(fence.raise(run.grant(), run.holder(), Duration.ofSeconds(5))).isInstanceOf(Raised.class);
	}

	private static boolean isDone(StaleWrite write) {
		return switch (write) {
			case STALE_UPDATE, STALE_ENTITY, UNTOUCHED_ROW -> database.status(1).equals("STALE");
			case BULK_UPDATE -> database.number("select count(*) from invoice where status = 'STALE'") > 0;
			case DELETE -> database.status(1).equals("GONE");
			case INSERT -> !database.status(3).equals("GONE");
		};
	}

	private static boolean isRefusal(Throwable thrown) {
		for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
			if (cause instanceof StaleTokenException || cause instanceof LeaseLostException
					|| cause instanceof OptimisticLockingFailureException) {
				return true;
			}
		}
		return false;
	}

	/** What a stale run does to a row. */
	enum StaleWrite {

		STALE_UPDATE, STALE_ENTITY, UNTOUCHED_ROW, BULK_UPDATE, DELETE, INSERT;

		@Override
		public String toString() {
			return name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
		}

	}

	/** What may stop it. */
	enum Way {

		TRANSACTION_FENCE, JDBC_ROW_FENCE, JPA_ATTRIBUTE, SPRING_DATA_QUERY;

		Writes checked(ConfigurableApplicationContext context) {
			return switch (this) {
				case TRANSACTION_FENCE -> entities(context, PlainInvoice.class, PlainInvoice::new);
				case JDBC_ROW_FENCE -> new JdbcWrites(context.getBean(JdbcClient.class), transactions(context), true);
				case JPA_ATTRIBUTE -> entities(context, Invoice.class, Invoice::new);
				case SPRING_DATA_QUERY -> new QueryWrites(context.getBean(Invoices.class), transactions(context), true);
			};
		}

		/** The same without what is to stop this write. */
		Writes unchecked(ConfigurableApplicationContext context, StaleWrite write) {
			return switch (this) {
				case TRANSACTION_FENCE -> checked(context);
				case JDBC_ROW_FENCE -> new JdbcWrites(context.getBean(JdbcClient.class), transactions(context), false);
				// Two checks: the version for what was read before, the token for the
				// rest
				case JPA_ATTRIBUTE ->
					(write == StaleWrite.STALE_ENTITY) ? entities(context, PlainInvoice.class, PlainInvoice::new)
							: entities(context, VersionedInvoice.class, VersionedInvoice::new);
				case SPRING_DATA_QUERY ->
					new QueryWrites(context.getBean(Invoices.class), transactions(context), false);
			};
		}

		private static <T extends Billable> Writes entities(ConfigurableApplicationContext context, Class<T> type,
				java.util.function.LongFunction<T> constructor) {
			EntityManager entities = SharedEntityManagerCreator
				.createSharedEntityManager(context.getBean(EntityManagerFactory.class));
			return new EntityWrites<>(entities, transactions(context), type, constructor);
		}

		private static TransactionTemplate transactions(ConfigurableApplicationContext context) {
			return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		}

	}

}
