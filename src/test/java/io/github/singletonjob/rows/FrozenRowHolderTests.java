package io.github.singletonjob.rows;

import java.time.Duration;
import java.util.List;

import io.github.singletonjob.servers.JvmProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

/**
 * A holder is stopped in the middle of its run and wakes up after its successor has
 * charged everything. The transaction fence is off: rows alone protect themselves.
 */
@Timeout(180)
class FrozenRowHolderTests {

	private static final Duration WAIT = Duration.ofSeconds(60);

	private static final int INVOICES = 40;

	private final InvoiceDatabase database = new InvoiceDatabase();

	private JvmProcess one;

	private JvmProcess two;

	@BeforeEach
	void createTables() {
		this.database.execute("create table charge (id bigserial, invoice bigint not null, token bigint not null)");
	}

	@AfterEach
	void stop() {
		this.one.close();
		this.two.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc", "jpa", "query" })
	void aFrozenHolderChargesNothingTwice(String way) {
		JvmProcess frozen = freezeAndResume(way);
		List<String> refusals = frozen.lines().stream().filter((line) -> line.startsWith("SAYS REFUSED")).toList();
		assertThat(refusals).hasSizeGreaterThan(5).last(STRING).contains("StaleTokenException");
		// With entities, the first one was read before the takeover: its version tells
		assertThat(refusals.get(0))
			.contains(way.equals("jpa") ? "StaleStateException: Unexpected row count" : "StaleTokenException");
		assertThat(invoicesChargedTwice()).as("invoices charged twice").isZero();
		assertThat(this.database.number("select count(distinct invoice) from charge")).isEqualTo(INVOICES);
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc-unchecked", "jpa-unchecked", "query-unchecked" })
	void withoutTheCheckOfTheRowItDoes(String way) {
		freezeAndResume(way);
		assertThat(invoicesChargedTwice()).isGreaterThan(5);
	}

	private JvmProcess freezeAndResume(String way) {
		this.one = start("one", way);
		this.two = start("two", way);
		List.of(this.one, this.two).forEach((server) -> server.awaitLine("SAYS READY", WAIT));
		this.database.execute("insert into invoice (id) select generate_series(1, " + INVOICES + ")");
		Awaitility.await().atMost(WAIT).until(() -> holds(this.one) || holds(this.two));
		JvmProcess holder = holds(this.one) ? this.one : this.two;
		holder.awaitLine("SAYS CHARGED 5 .*", WAIT);
		holder.freeze();
		Awaitility.await()
			.atMost(WAIT)
			.until(() -> this.database.number("select count(distinct invoice) from charge") == INVOICES);
		holder.resume();
		holder.awaitLine("SAYS END .*", WAIT);
		return holder;
	}

	private JvmProcess start(String name, String way) {
		return JvmProcess
			.of(RowFencedProcess.class, "--way=" + way, "--singleton-job.holder=" + name,
					"--spring.datasource.url=" + this.database.url(), "--spring.datasource.username=postgres",
					"--spring.datasource.hikari.maximum-pool-size=3", "--spring.main.banner-mode=off",
					"--singleton-job.lease.ttl=2s", "--singleton-job.store=postgres", "--singleton-job.namespace=shop",
					"--singleton-job.fencing.enabled=false")
			.echo(name)
			.start();
	}

	private static boolean holds(JvmProcess server) {
		return server.lines().stream().anyMatch((line) -> line.startsWith("SAYS BEGIN"));
	}

	private long invoicesChargedTwice() {
		return this.database
			.number("select count(*) from (select 1 from charge group by invoice having count(*) > 1) twice");
	}

}
