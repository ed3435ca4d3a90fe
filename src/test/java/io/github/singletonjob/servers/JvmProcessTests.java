package io.github.singletonjob.servers;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * JVMs that a test talks to, freezes and ends.
 */
class JvmProcessTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final Duration MOMENT = Duration.ofMillis(300);

	@Test
	void talksAndExits() {
		try (JvmProcess jvm = JvmProcess.of(Talker.class, "a b", "c").systemProperty("talker.mood", "fine").start()) {
			assertThat(jvm.awaitLine("^ready", TIMEOUT)).isEqualTo("ready a b,c fine");
			jvm.awaitLine((line) -> line.contains("other stream"), TIMEOUT);
			jvm.writeLine("grüezi");
			assertThat(jvm.awaitLine("you said", TIMEOUT)).isEqualTo("you said grüezi");
			int before = jvm.lines().size();
			jvm.writeLine("exit 7");
			assertThat(jvm.awaitLineFrom(before, (line) -> line.startsWith("you said"), TIMEOUT))
				.isEqualTo("you said exit 7");
			assertThat(jvm.awaitExit(TIMEOUT)).isEqualTo(7);
			assertThat(jvm.isAlive()).isFalse();
		}
	}

	@Test
	void frozenUntilResumed() {
		try (JvmProcess jvm = started()) {
			jvm.freeze();
			assertThat(jvm.isAlive()).isTrue();
			jvm.writeLine("hello");
			assertThatIllegalStateException().isThrownBy(() -> jvm.awaitLine("hello", MOMENT))
				.withMessageContaining("No such line in time")
				.withMessageContaining("ready");
			jvm.resume();
			jvm.awaitLine("hello", TIMEOUT);
		}
	}

	@Test
	void terminationRunsShutdownHooks() {
		try (JvmProcess jvm = started()) {
			jvm.terminate();
			assertThat(jvm.awaitExit(TIMEOUT)).isEqualTo(128 + 15);
			jvm.awaitLine("shutting down", TIMEOUT);
		}
	}

	@Test
	void killDoesNotAndIsReportedAtOnce() {
		try (JvmProcess jvm = started()) {
			jvm.kill();
			assertThat(jvm.awaitExit(TIMEOUT)).isEqualTo(128 + 9);
			assertThatIllegalStateException().isThrownBy(() -> jvm.awaitLine("shutting down", TIMEOUT))
				.withMessageContaining("ended without that line");
		}
	}

	@Test
	void closeEndsAFrozenOne() {
		JvmProcess jvm = started();
		jvm.freeze();
		jvm.close();
		assertThat(Signals.isGone(jvm.pid())).isTrue();
	}

	@Test
	void waitingForTheExitIsBounded() {
		try (JvmProcess jvm = started()) {
			assertThatIllegalStateException().isThrownBy(() -> jvm.awaitExit(MOMENT))
				.withMessageContaining("still runs");
		}
	}

	private static JvmProcess started() {
		JvmProcess jvm = JvmProcess.of(Talker.class).start();
		jvm.awaitLine("ready", TIMEOUT);
		return jvm;
	}

}
