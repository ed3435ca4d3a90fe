package io.github.singletonjob.rows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.YearMonth;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.IdempotencyKey;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.fencing.RowFence;
import io.github.singletonjob.fencing.TokenParameterSource;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The examples in {@code docs/fencing.md} are parts of tests: those with JDBC and keys
 * are here, those with JPA and Spring Data in {@link Invoice} and {@link Invoices}.
 */
@Timeout(120)
class FencingExamplesTests {

	private static final Path PAGE = Path.of("../../docs/fencing.md");

	private static final Path TESTS = Path.of("java/io/github/singletonjob/rows");

	private static final Pattern EXAMPLE = Pattern.compile("^ *```java\\n(.*?)^ *```",
			Pattern.DOTALL | Pattern.MULTILINE);

	private final InvoiceDatabase database = new InvoiceDatabase();

	private final InvoiceBook book = new InvoiceBook(
			new DriverManagerDataSource(this.database.url(), PostgresServer.USERNAME, ""));

	@BeforeEach
	void reset() {
		this.database.reset();
	}

	@Test
	void everyExampleIsPartOfATest() throws IOException {
		String page = Files.readString(PAGE);
		String ours = page.substring(page.indexOf("## Row by row"), page.indexOf("## The table"));
		List<String> examples = EXAMPLE.matcher(ours).results().map(FencingExamplesTests::code).toList();
		assertThat(examples).hasSize(8);
		String tests = sources();
		assertThat(examples).allSatisfy((example) -> assertThat(tests.contains(example)).as(example).isTrue());
	}

	private static String code(MatchResult match) {
		return withoutSpace(match.group(1));
	}

	private static String sources() throws IOException {
		try (Stream<Path> files = Files.list(TESTS)) {
			return files.map(FencingExamplesTests::read).reduce("", String::concat);
		}
	}

	private static String read(Path file) {
		try {
			return withoutSpace(Files.readString(file));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String withoutSpace(String code) {
		return code.replaceAll("\\s", "");
	}

	@Test
	void oneRow() {
		Runs.in(Runs.of("billing", 33), () -> this.book.markCharged(1));
		assertThat(this.database.status(1)).isEqualTo("CHARGED");
	}

	@Test
	void aBatch() {
		Runs.in(Runs.of("billing", 33), () -> this.book.markSent(List.of(new Mail(1), new Mail(2))));
		assertThat(this.database.number("select count(*) from invoice where status = 'SENT' and fence = 33"))
			.isEqualTo(2);
	}

	@Test
	void anInsertThatMayFindItsRowThere() {
		Runs.in(Runs.of("billing", 33), () -> {
			this.book.open(3);
			this.book.open(3);
		});
		assertThat(this.database.fence(3)).isEqualTo(33);
		newerRunWrites(34);
		Runs.in(Runs.of("billing", 33),
				() -> assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> this.book.open(3)));
		assertThat(this.database.status(3)).isEqualTo("NEW");
	}

	@Test
	void aStaleRunIsRefused() {
		InvoiceBook book = this.book;
		JobRun stale = mock(JobRun.class);
		given(stale.job()).willReturn("billing");
		given(stale.token()).willReturn(33L);
		newerRunWrites(34);
		try (var scope = CurrentJobRun.open(stale)) {
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> book.markCharged(1));
		}
		assertThat(this.database.status(1)).isEqualTo("NEW");
	}

	@Test
	void aKeyIsTheSameForEachHolder() {
		CardNetwork cardNetwork = new CardNetwork();
		for (long token : new long[] { 33, 34 }) {
			JobRun run = mock(JobRun.class);
			given(run.idempotencyKey("invoice", 1L, YearMonth.of(2026, 11)))
				.willAnswer((call) -> IdempotencyKey.of(call.getArguments()));
			given(run.token()).willReturn(token);
			new Payments(run, cardNetwork).charge(1, YearMonth.of(2026, 11), 500);
		}
		assertThat(cardNetwork.charged).hasSize(1);
	}

	private void newerRunWrites(long token) {
		this.database.write(token);
	}

	/** Rows that are guarded one by one. */
	private static final class InvoiceBook {

		private final JdbcClient jdbc;

		private final NamedParameterJdbcTemplate batches;

		InvoiceBook(DriverManagerDataSource dataSource) {
			this.jdbc = JdbcClient.create(dataSource);
			this.batches = new NamedParameterJdbcTemplate(dataSource);
		}

		void markCharged(long id) {
			int rows = this.jdbc
				.sql("UPDATE invoice SET status = 'CHARGED', fence = :token WHERE id = :id AND fence <= :token")
				.param("token", RowFence.token())
				.param("id", id)
				.update();
			RowFence.requireUpdated(rows);
		}

		void markSent(List<Mail> mails) {
			int[] counts = this.batches.batchUpdate(
					"UPDATE invoice SET status = 'SENT', fence = :token WHERE id = :id AND fence <= :token",
					TokenParameterSource.batch(mails));
			RowFence.requireAllUpdated(counts);
		}

		void open(long id) {
			int rows = this.jdbc.sql("""
					INSERT INTO invoice AS i (id, status, fence) VALUES (:id, 'OPEN', :token)
					ON CONFLICT (id) DO UPDATE SET status = excluded.status, fence = excluded.fence
					WHERE i.fence <= excluded.fence""").paramSource(TokenParameterSource.of(Map.of("id", id))).update();
			RowFence.requireUpdated(rows);
		}

	}

	private record Mail(long id) {
	}

	/** An effect that no database can refuse. */
	private static final class Payments {

		private final JobRun run;

		private final CardNetwork cardNetwork;

		Payments(JobRun run, CardNetwork cardNetwork) {
			this.run = run;
			this.cardNetwork = cardNetwork;
		}

		void charge(long customerId, YearMonth month, long cents) {
			IdempotencyKey key = this.run.idempotencyKey("invoice", customerId, month);
			this.cardNetwork.charge(customerId, cents, key);
		}

	}

	/** Remembers what it has done. */
	private static final class CardNetwork {

		private final Map<IdempotencyKey, Long> charged = new java.util.HashMap<>();

		void charge(long customerId, long cents, IdempotencyKey key) {
			this.charged.putIfAbsent(key, customerId + cents);
		}

	}

}
