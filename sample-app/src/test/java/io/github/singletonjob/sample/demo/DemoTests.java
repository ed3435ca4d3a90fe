package io.github.singletonjob.sample.demo;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Plays the whole demo with real processes: freezes the server that bills, wakes it up
 * when the other has taken over, and looks into the books.
 */
class DemoTests {

	private static final String[] QUICK = { "--demo.customers=40", "--demo.card-network-delay=50ms",
			"--company.billing.cron=*/4 * * * * *", "--company.statements.cron=3/4 * * * * *",
			"--singleton-job.lease.ttl=2s" };

	private static final String EVERYBODY_ONCE = ": 40 customers, 40 charged once, 0 twice";

	@Test
	void chargesEverybodyOnceAlthoughAHolderIsFrozen() throws Exception {
		try (DemoProcess demo = DemoProcess.start("demo-with-fence", QUICK)) {
			demo.awaitAnywhere("server-1 is up");
			demo.awaitAnywhere("server-2 is up");
			demo.await("period 1" + EVERYBODY_ONCE);
			demo.await("period 2" + EVERYBODY_ONCE);

			MatchResult frozen = freezeTheHolder(demo);
			MatchResult successor = demo.await("takeover: (server-\\d) \\(token (\\d+)\\) goes on");
			assertThat(successor.group(1)).isNotEqualTo(frozen.group(1));
			assertThat(token(successor)).isGreaterThan(token(frozen));
			demo.await("period " + frozen.group(2) + EVERYBODY_ONCE);

			demo.wake(frozen.group(1));
			demo.await(frozen.group(1) + " is awake");
			demo.await(frozen.group(1) + " is stale: no charge with token " + token(frozen) + " was accepted");
			demo.awaitAnywhere(frozen.group(1) + " .*paging the people on call: token " + token(frozen) + " is over");
			demo.await("charged once");
			assertBooks(demo.books());

			stopWithAFrozenServer(demo, frozen.group(1));
		}
	}

	@Test
	void showsTheDamageWithoutTheFenceWithLeasesInRedis() throws Exception {
		try (DemoProcess demo = DemoProcess.start("demo-without-fence",
				quickly("--singleton-job.fencing.enabled=false", "--singleton-job.store=redis"))) {
			demo.awaitAnywhere("server-1 is up");
			demo.awaitAnywhere("server-2 is up");
			// A holder that happens to be frozen between two charges does no damage.
			for (int attempt = 1; attempt <= 4 && damage(demo) == 0; attempt++) {
				MatchResult frozen = freezeTheHolder(demo);
				demo.await("takeover: ");
				demo.await("period " + frozen.group(2) + ": 40 customers");
				demo.wake(frozen.group(1));
				demo.await(frozen.group(1) + " is stale");
			}
			assertThat(damage(demo)).isPositive();
			demo.awaitAnywhere("40 customers, 39 charged once, 1 twice");
			killAndLeaveNothingBehind(demo);
		}
	}

	@Test
	void billsWithLeasesInEtcd() throws Exception {
		assumeTrue(SearchPath.find("etcd").isPresent(), "no etcd on the PATH");
		try (DemoProcess demo = DemoProcess.start("demo-etcd", quickly("--singleton-job.store=etcd"))) {
			demo.await("server-\\d bills period 1 with token");
			killAndLeaveNothingBehind(demo);
		}
	}

	private static void killAndLeaveNothingBehind(DemoProcess demo) throws Exception {
		List<ProcessHandle> processes = demo.processes();
		assertThat(processes).as("two servers, reaper, database, store").hasSizeGreaterThanOrEqualTo(5);
		demo.signal("KILL");
		assertGone(processes);
	}

	private static String[] quickly(String... more) {
		return Stream.of(QUICK, more).flatMap(Arrays::stream).toArray(String[]::new);
	}

	private static MatchResult freezeTheHolder(DemoProcess demo) throws Exception {
		while (true) {
			MatchResult holder = demo.await("(server-\\d) bills period (\\d+) with token (\\d+)");
			demo.freeze(holder.group(1));
			MatchResult frozen = demo.await(holder.group(1) + " is frozen(?: with token (\\d+))?");
			if (frozen.group(1) != null) {
				assertThat(token(frozen)).isEqualTo(token(holder));
				return holder;
			}
			// Too late on a busy machine: it had done its work already.
			demo.wake(holder.group(1));
		}
	}

	private static long token(MatchResult line) {
		return Long.parseLong(line.group(line.groupCount()));
	}

	private static long damage(DemoProcess demo) {
		return demo.books().sql("""
				select count(*) from (select 1 from charge group by period, customer_id having count(*) > 1) twice
				""").query(Long.class).single();
	}

	private static void assertBooks(JdbcClient books) {
		assertThat(books.sql("""
				select count(*) from (select 1 from charge group by period, customer_id having count(*) > 1) twice
				""").query(Long.class).single()).as("wrong data: customers charged twice").isZero();
		assertThat(books.sql("""
				select count(*) from (select token < max(token) over (order by id) as late from charge) c where late
				""").query(Long.class).single()).as("wrong data: charges with a token below an earlier one").isZero();
		assertThat(books.sql("""
				select count(*) from (select 1 from statement group by period, customer_id having count(*) > 1) twice
				""").query(Long.class).single()).as("wrong data: statements written twice").isZero();
		assertThat(books.sql("select count(*) from statement where mailed_at is not null").query(Long.class).single())
			.as("mailed statements")
			.isPositive();
	}

	private static void stopWithAFrozenServer(DemoProcess demo, String server) throws Exception {
		List<ProcessHandle> processes = demo.processes();
		assertThat(processes).hasSizeGreaterThanOrEqualTo(4);
		demo.freeze(server);
		demo.signal("TERM");
		demo.await("In the books: 0 customers charged twice, 0 statements written twice");
		demo.await("card network: ");
		assertThat(demo.ended(Duration.ofSeconds(20))).as("launcher has ended").isTrue();
		assertGone(processes);
		assertThat(demo.data()).doesNotExist();
	}

	private static void assertGone(List<ProcessHandle> processes) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(10))
			.untilAsserted(() -> assertThat(processes).noneMatch(ProcessHandle::isAlive));
	}

}
