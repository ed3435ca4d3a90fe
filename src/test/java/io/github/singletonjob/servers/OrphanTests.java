package io.github.singletonjob.servers;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What becomes of servers and processes whose JVM is killed.
 */
class OrphanTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	@Test
	void killedJvmLeavesNoServersEvenFrozenOnes() {
		try (JvmProcess jvm = JvmProcess.of(OwnerOfServers.class).start()) {
			List<Long> pids = pids(jvm);
			assertThat(pids).hasSizeGreaterThan(8).noneMatch(Signals::isGone);
			jvm.kill();
			awaitAllGone(pids);
		}
	}

	@Test
	void whatGuardsDidNotEndGoesWithTheNextStart() {
		try (JvmProcess jvm = JvmProcess.of(OwnerOfServers.class).start()) {
			Map<Boolean, List<Long>> pids = pids(jvm).stream()
				.collect(Collectors.partitioningBy(OrphanTests::isPostgres));
			Signals.kill(pids.get(false));
			assertThat(pids.get(true)).filteredOn((pid) -> !Signals.isGone(pid)).hasSizeGreaterThan(4);
			Workspace.deleteAbandoned();
			awaitAllGone(pids.get(true));
		}
	}

	/** Those below the JVM come first. */
	private static List<Long> pids(JvmProcess jvm) {
		return Stream.of(jvm.awaitLine("^pids ", TIMEOUT).split(" ")).skip(1).map(Long::valueOf).toList();
	}

	private static boolean isPostgres(long pid) {
		return ProcessHandle.of(pid).flatMap((process) -> process.info().command()).orElse("").endsWith("/postgres");
	}

	private static void awaitAllGone(List<Long> pids) {
		Waits.until("everything has ended " + pids, TIMEOUT, () -> pids.stream().allMatch(Signals::isGone));
	}

}
