package io.github.singletonjob.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.PostgresServer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A fire time whose holder is killed, frozen or stopped in the middle of its run is
 * finished by another server, and one that was completed is not repeated.
 */
@Timeout(240)
class TakeoverTests {

	private static final Duration WAIT = Duration.ofSeconds(60);

	private static final Pattern BEGIN = Pattern.compile("SAYS BEGIN (\\S+) (first|takeover) (\\d+) @(\\d+)");

	@ParameterizedTest
	@MethodSource("io.github.singletonjob.faults.Store#all")
	void theSameFireTimeIsFinishedByAnother(Store store) {
		String database = PostgresServer.shared().newDatabase();
		try (BillingCompany company = new BillingCompany(database)) {
			company
				.execute("create table sending (id bigserial, event text, fire_time text, token bigint, server text)");
			List<JvmProcess> servers = new ArrayList<>();
			for (String name : List.of("one", "two", "three")) {
				servers.add(company.start(StatementProcess.class, name, store.arguments(company)));
			}
			servers.forEach((server) -> server.awaitLine("SAYS READY .*", WAIT));

			Begin killed = awaitFirst(servers);
			long since = System.currentTimeMillis();
			killed.server().kill();
			servers.remove(killed.server());
			report(store, "kill -9", awaitTakeover(servers, killed) - since, store.killed());

			Begin frozen = awaitFirst(servers);
			since = System.currentTimeMillis();
			frozen.server().freeze();
			servers.remove(frozen.server());
			report(store, "SIGSTOP", awaitTakeover(servers, frozen) - since, store.frozen());
			awaitEnd(company, frozen.fireTime());
			frozen.server().resume();
			frozen.server().awaitLine("SAYS CUT " + frozen.fireTime() + ".*", WAIT);
			servers.add(frozen.server());

			Begin stopped = awaitFirst(servers);
			stopped.server().terminate();
			servers.remove(stopped.server());
			long cut = timeOf(stopped.server().awaitLine("SAYS CUT " + stopped.fireTime() + ".*", WAIT));
			report(store, "SIGTERM", awaitTakeover(servers, stopped) - cut, Duration.ofMillis(1500));
			awaitEnd(company, stopped.fireTime());
			assertThat(company.number("select count(*) from (select fire_time from sending where event = 'end'"
					+ " group by fire_time having count(*) > 1) twice"))
				.as("wrong data: fire times completed twice")
				.isZero();
			assertThat(company.number("select count(*) from (select token, lag(token) over (order by id) as previous"
					+ " from sending) s where token < previous"))
				.as("wrong data: tokens that went down")
				.isZero();
		}
	}

	/** Waits for a run that nobody has begun before, and that is in its middle. */
	private static Begin awaitFirst(List<JvmProcess> servers) {
		List<Integer> skip = servers.stream().map((server) -> server.lines().size()).toList();
		List<Begin> found = new ArrayList<>();
		Awaitility.await().atMost(WAIT).pollInterval(Duration.ofMillis(20)).until(() -> {
			for (int i = 0; i < servers.size(); i++) {
				JvmProcess server = servers.get(i);
				server.lines()
					.stream()
					.skip(skip.get(i))
					.map((line) -> Begin.parse(server, line))
					.flatMap(Stream::ofNullable)
					.filter((begin) -> !begin.takeover())
					.forEach(found::add);
			}
			return !found.isEmpty();
		});
		return found.get(0);
	}

	/** When another server has begun to finish the run, in milliseconds. */
	private static long awaitTakeover(List<JvmProcess> servers, Begin begun) {
		List<Begin> found = new ArrayList<>();
		Awaitility.await().atMost(WAIT).pollInterval(Duration.ofMillis(20)).until(() -> {
			servers.forEach((server) -> server.lines()
				.stream()
				.map((line) -> Begin.parse(server, line))
				.flatMap(Stream::ofNullable)
				.filter((begin) -> begin.fireTime().equals(begun.fireTime()))
				.forEach(found::add));
			return !found.isEmpty();
		});
		assertThat(found.get(0).takeover()).as("is a takeover").isTrue();
		assertThat(found.get(0).token()).isGreaterThan(begun.token());
		return found.get(0).time();
	}

	private static void awaitEnd(BillingCompany company, String fireTime) {
		Awaitility.await()
			.atMost(WAIT)
			.until(() -> company
				.number("select count(*) from sending where event = 'end' and fire_time = '" + fireTime + "'") == 1);
	}

	private static void report(Store store, String fault, long millis, Duration atMost) {
		System.out.println("Takeover after " + fault + " with " + store + ": " + millis + " ms");
		assertThat(Duration.ofMillis(millis)).as("takeover after " + fault).isLessThan(atMost);
	}

	private static long timeOf(String line) {
		return Long.parseLong(line.substring(line.lastIndexOf('@') + 1));
	}

	/**
	 * A run that a server says to have begun.
	 */
	private record Begin(JvmProcess server, String fireTime, boolean takeover, long token, long time) {

		static @Nullable Begin parse(JvmProcess server, String line) {
			Matcher matcher = BEGIN.matcher(line);
			return matcher.matches() ? new Begin(server, matcher.group(1), matcher.group(2).equals("takeover"),
					Long.parseLong(matcher.group(3)), Long.parseLong(matcher.group(4))) : null;
		}

	}

}
