package io.github.singletonjob.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;

/**
 * An application, and outages of its store.
 */
final class OutageTrial implements AutoCloseable {

	static final Duration OUTAGE = Duration.ofSeconds(10);

	private static final Duration START = Duration.ofSeconds(90);

	private static final Duration RECOVERY = Duration.ofSeconds(30);

	/** How long it may take from a grant to the body. */
	private static final Duration ON_THE_WAY = Duration.ofSeconds(1);

	private final TcpProxy proxy;

	private final JvmProcess application;

	OutageTrial(String store, TcpProxy proxy, List<String> arguments) {
		this.proxy = proxy;
		List<String> all = new ArrayList<>(List.of("--singleton-job.store=" + store,
				"--singleton-job.namespace=" + UUID.randomUUID(), "--spring.main.banner-mode=off",
				"--spring.task.scheduling.pool.size=8", "--spring.datasource.username=postgres",
				"--spring.datasource.hikari.maximum-pool-size=6", "--spring.datasource.hikari.minimum-idle=1"));
		all.addAll(arguments);
		this.application = JvmProcess.of(OutageProcess.class, all.toArray(String[]::new)).start();
	}

	/** Waits until all is as it usually is. */
	OutageTrial awaitRoutine() {
		this.application.awaitLine("SAYS HOLDS patient .*", START);
		this.application.awaitLine("SAYS HOLDS hasty .*", START);
		for (int i = 0; i < 3; i++) {
			awaitFiring();
		}
		return this;
	}

	private void awaitFiring() {
		int seen = this.application.lines().size();
		for (String job : List.of("first", "second", "third")) {
			this.application.awaitLineFrom(seen, (line) -> line.startsWith("SAYS RAN " + job), RECOVERY);
		}
	}

	/**
	 * Lets the store be down for some time.
	 * @param begin how it gets down
	 */
	OutageReport outage(Consumer<TcpProxy> begin) {
		Awaitility.await().atMost(RECOVERY).until(() -> ask("hasty").isHeld());
		Held before = ask("patient");
		int seen = this.application.lines().size();
		Duration cpu = this.application.cpuTime();
		long start = System.nanoTime();
		long began = System.currentTimeMillis();
		begin.accept(this.proxy);
		Awaitility.await().atMost(OUTAGE.multipliedBy(2)).until(() -> since(start).compareTo(OUTAGE) >= 0);
		double share = (double) this.application.cpuTime().minus(cpu).toNanos() / since(start).toNanos();
		List<String> all = this.application.lines();
		List<String> during = all.subList(seen, all.size());
		long restored = System.nanoTime();
		this.proxy.pass();
		awaitFiring();
		Duration recovered = since(restored);
		this.application.awaitLineFrom(seen, (line) -> line.startsWith("SAYS HOLDS hasty"), RECOVERY);
		return new OutageReport(share, lostAfter(during, began), begun(during, began), recovered, before,
				awaitRenewed());
	}

	private Held awaitRenewed() {
		return Awaitility.await()
			.atMost(RECOVERY)
			.until(() -> ask("patient"), (held) -> held.isHeld() && held.remainingMillis() > 15_000);
	}

	private Held ask(String job) {
		int seen = this.application.lines().size();
		this.application.writeLine(job);
		return Held
			.of(this.application.awaitLineFrom(seen, (line) -> line.startsWith("SAYS KNOWS " + job + " "), RECOVERY));
	}

	private static long lostAfter(List<String> lines, long began) {
		return lines.stream()
			.filter((line) -> line.startsWith("SAYS LOST hasty"))
			.findFirst()
			.map((line) -> timeOf(line) - began)
			.orElse(Long.MAX_VALUE);
	}

	/** Without those whose lease was granted just before. */
	private static List<String> begun(List<String> lines, long began) {
		return lines.stream()
			.filter((line) -> line.startsWith("SAYS RAN ") || line.startsWith("SAYS HOLDS "))
			.filter((line) -> timeOf(line) - began > ON_THE_WAY.toMillis())
			.toList();
	}

	private static long timeOf(String line) {
		return Long.parseLong(line.substring(line.lastIndexOf('@') + 1));
	}

	private static Duration since(long nanos) {
		return Duration.ofNanos(System.nanoTime() - nanos);
	}

	@Override
	public void close() {
		this.application.close();
		this.proxy.close();
	}

	/**
	 * What became of an outage.
	 *
	 * @param cpuShare the cores that the application used meanwhile
	 * @param lostAfterMillis after which time the run with the short lease was lost
	 * @param begun what bodies said that began meanwhile
	 * @param recovery after which time all jobs had fired again
	 * @param before the run with the long lease before the outage
	 * @param after the same after it
	 */
	record OutageReport(double cpuShare, long lostAfterMillis, List<String> begun, Duration recovery, Held before,
			Held after) {
	}

	/**
	 * What a run says of itself.
	 *
	 * @param token its token
	 * @param isHeld whether it is held
	 * @param remainingMillis for how long
	 */
	record Held(long token, boolean isHeld, long remainingMillis) {

		static Held of(String line) {
			String[] words = line.split(" ", -1);
			return new Held(Long.parseLong(words[3]), "held=true".equals(words[4]),
					Long.parseLong(words[5].substring("remaining=".length())));
		}

	}

}
