package io.github.singletonjob.rows;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.singletonjob.servers.JvmProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

/**
 * A holder is stopped in the middle of its run and wakes up after its successor has
 * charged everything. The transaction fence is off: rows alone protect themselves. The
 * two servers live on from one test to the next.
 */
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FrozenRowHolderTests {

	private static final Duration WAIT = Duration.ofSeconds(60);

	private static final int INVOICES = 40;

	private final InvoiceDatabase database = new InvoiceDatabase();

	private final JvmProcess one = start("one");

	private final JvmProcess two = start("two");

	/** Of the last invoice so far. */
	private int last;

	FrozenRowHolderTests() {
		this.database.execute("create table charge (id bigserial, invoice bigint not null, token bigint not null)");
		this.database.execute("create table plan (way text not null)");
		this.database.execute("insert into plan values ('')");
	}

	@BeforeEach
	void awaitServers() {
		List.of(this.one, this.two).forEach((server) -> server.awaitLine("SAYS READY", WAIT));
		this.database.execute("truncate invoice, charge");
	}

	@AfterEach
	void wakeEverybodyUp() {
		List.of(this.one, this.two).forEach(JvmProcess::resume);
	}

	@AfterAll
	void stop() {
		this.one.close();
		this.two.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc", "jpa", "query" })
	void aFrozenHolderChargesNothingTwice(String way) {
		String charged = freezeAndResume(way);
		List<String> refusals = lines("SAYS REFUSED (\\d+) with " + tokenOf(charged) + ":.*");
		assertThat(refusals).hasSizeGreaterThan(5).last(STRING).contains("StaleTokenException");
		// With entities, the first one was read before the takeover: its version tells
		assertThat(refusals.get(0))
			.contains(way.equals("jpa") ? "StaleStateException: Unexpected row count" : "StaleTokenException");
		assertThat(invoicesChargedTwice()).as("wrong data: invoices charged twice").isZero();
		assertThat(this.database.number("select count(distinct invoice) from charge")).isEqualTo(INVOICES);
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc-unchecked", "jpa-unchecked", "query-unchecked" })
	void withoutTheCheckOfTheRowItDoes(String way) {
		freezeAndResume(way);
		assertThat(invoicesChargedTwice()).isGreaterThan(5);
	}

	/** Answers what the frozen one has said before. */
	private String freezeAndResume(String way) {
		int first = this.last + 1;
		this.last += INVOICES;
		this.database.execute("update plan set way = '" + way + "'");
		this.database.execute("insert into invoice (id) select generate_series(" + first + ", " + this.last + ")");
		String charged = "SAYS CHARGED " + (first + RowFencedProcess.FREEZE_AFTER - 1) + " with \\d+";
		Awaitility.await().atMost(WAIT).until(() -> !lines(charged).isEmpty());
		String line = lines(charged).get(0);
		JvmProcess holder = this.one.lines().contains(line) ? this.one : this.two;
		holder.freeze();
		Awaitility.await()
			.atMost(WAIT)
			.until(() -> this.database.number("select count(distinct invoice) from charge") == INVOICES);
		holder.resume();
		holder.awaitLine("SAYS END " + tokenOf(line), WAIT);
		return line;
	}

	private static String tokenOf(String charged) {
		return charged.substring(charged.lastIndexOf(' ') + 1);
	}

	private List<String> lines(String pattern) {
		return Stream.of(this.one, this.two)
			.flatMap((server) -> server.lines().stream())
			.filter((line) -> line.matches(pattern))
			.toList();
	}

	private JvmProcess start(String name) {
		return JvmProcess
			.of(RowFencedProcess.class, "--singleton-job.holder=" + name,
					"--spring.datasource.url=" + this.database.url(), "--spring.datasource.username=postgres",
					"--spring.datasource.hikari.maximum-pool-size=3", "--spring.main.banner-mode=off",
					"--singleton-job.lease.ttl=2s", "--singleton-job.store=postgres", "--singleton-job.namespace=shop",
					"--singleton-job.fencing.enabled=false")
			.echo(name)
			.start();
	}

	private long invoicesChargedTwice() {
		return this.database
			.number("select count(*) from (select 1 from charge group by invoice having count(*) > 1) twice");
	}

}
