package io.github.singletonjob.propagation;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.propagation.ThreadScenario.Findings;
import io.github.singletonjob.servers.JavaHomes;
import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

/**
 * What other threads see of a run, and what becomes of their transactions, with the
 * context propagated and without.
 */
@Timeout(180)
class ThreadsOfARunTests {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource(ThreadKind.class)
	void aThreadThatTheRunIsPropagatedToIsFencedLikeTheJobsOwn(ThreadKind kind) throws Exception {
		Findings findings = play(kind, true);
		assertThat(findings.read()).isEqualTo("token above by 0");
		assertThat(findings.whileHeld()).isEqualTo("written");
		assertThat(findings.superseded()).contains("StaleTokenException").contains("server-2");
		assertThat(findings.ended()).startsWith("LeaseLostException").contains("it has ended");
		assertThat(findings.rows()).containsExactly(1);
	}

	@ParameterizedTest
	@EnumSource(ThreadKind.class)
	void aThreadThatTheRunIsNotPropagatedToSaysSoAndIsNotFenced(ThreadKind kind) throws Exception {
		Findings findings = play(kind, false);
		assertThat(findings.read()).startsWith("IllegalStateException: No job run on thread")
			.contains("propagate-context")
			.contains("CurrentJobRun.open");
		assertThat(findings.whileHeld()).isEqualTo("written");
		assertThat(findings.superseded()).isEqualTo("written");
		assertThat(findings.ended()).isEqualTo("written");
		assertThat(findings.rows()).containsExactly(1, 2, 3);
	}

	private static Findings play(ThreadKind kind, boolean propagated) throws Exception {
		String url = PostgresServer.shared().newDatabase();
		Findings findings = kind.isVirtual() ? playOnNewerJava(kind, propagated, url)
				: ThreadScenario.play(kind, propagated, url);
		assertThat(findings.thread().contains("VirtualThread")).isEqualTo(kind.isVirtual());
		assertThat(findings.thread().contains("commonPool")).isEqualTo(kind == ThreadKind.COMMON_POOL);
		return findings;
	}

	private static Findings playOnNewerJava(ThreadKind kind, boolean propagated, String url) {
		Path home = JavaHomes.find(21)
			.orElseGet(() -> abort("No JDK 21 or newer was found, which virtual threads need: install one under"
					+ " /usr/lib/jvm, or name it in JAVA_21_HOME"));
		try (JvmProcess process = JvmProcess.of(ThreadScenario.class, kind.name(), Boolean.toString(propagated), url)
			.javaHome(home)
			.start()) {
			String rows = process.awaitLine("^ROWS ", LIMIT);
			return new Findings(said(process, "THREAD"), said(process, "READ"), said(process, "HELD"),
					said(process, "SUPERSEDED"), said(process, "ENDED"), numbers(rows));
		}
	}

	private static String said(JvmProcess process, String word) {
		return process.awaitLine("^" + word + " ", LIMIT).substring(word.length() + 1);
	}

	private static List<Integer> numbers(String line) {
		List<Integer> numbers = new ArrayList<>();
		for (String number : line.replaceAll("[^0-9,]", "").split(",", -1)) {
			numbers.add(Integer.valueOf(number));
		}
		return numbers;
	}

}
