package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.github.singletonjob.OnLost;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.lease.JobId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What keeps an instance from renewing is named, with figures, once: ttl 10 s, renewed
 * every 3 s, and a call may take 1 s.
 */
@ExtendWith(OutputCaptureExtension.class)
class RenewalWatchTests {

	private static final LeaseTiming TIMING = new LeaseTiming(seconds(10), seconds(3), seconds(3));

	private final VirtualTime time = new VirtualTime();

	private final AtomicLong collections = new AtomicLong();

	private final RenewalWatch watch = new RenewalWatch(this.time, TIMING, this.collections::get);

	@Test
	void aRenewalInTimeIsNotWorthALine(CapturedOutput output) {
		renewal(seconds(3));
		renewal(Duration.ofMillis(3900));
		assertThat(output).isEmpty();
	}

	@Test
	void aLateRenewalIsReportedOnceForEachEpisode(CapturedOutput output) {
		renewal(seconds(5));
		renewal(seconds(6));
		assertThat(lines(output, "billing: renewal began 2000 ms late, 5000 ms after")).isEqualTo(1);
		assertThat(lines(output, "late")).isEqualTo(1);
		assertThat(output).contains("WARN").contains("no thread of this JVM got to it");
		renewal(seconds(3));
		assertThat(lines(output, "billing: renewals begin in time again")).isEqualTo(1);
		renewal(seconds(5));
		assertThat(lines(output, "2000 ms late")).isEqualTo(2);
	}

	@Test
	void aLongGarbageCollectionIsNamed(CapturedOutput output) {
		this.watch.planned(this.time.now(), seconds(3));
		this.time.freeze(seconds(5));
		this.collections.addAndGet(1900);
		this.watch.begins("billing");
		assertThat(output).contains("2000 ms late").contains("garbage collection has paused this JVM for 1900 ms");
	}

	@Test
	void aClockThatWasPutAheadIsReportedOnce(CapturedOutput output) {
		this.watch.planned(this.time.now(), seconds(3));
		this.time.stepWallClock(seconds(60));
		this.time.freeze(seconds(3));
		this.watch.begins("billing");
		renewal(seconds(3));
		assertThat(lines(output, "billing: the wall clock was put ahead by 60000 ms")).isEqualTo(1);
		assertThat(lines(output, "WARN")).isEqualTo(1);
	}

	@Test
	void aClockThatWasSetBackIsReportedOnce(CapturedOutput output) {
		this.watch.planned(this.time.now(), seconds(3));
		this.time.stepWallClock(seconds(-60));
		this.time.freeze(seconds(3));
		this.watch.begins("billing");
		renewal(seconds(3));
		assertThat(lines(output, "billing: the wall clock was set back by 60000 ms")).isEqualTo(1);
	}

	@Test
	void aFrozenHolderIsReportedByItsRun(CapturedOutput output) {
		Scheduling scheduling = new Scheduling(this.time, this.time, this.time, new SplittableRandom(1));
		ModelStore store = new ModelStore(this.time);
		LeaseKeeper keeper = new LeaseKeeper(store, scheduling, (run, reason) -> {
		});
		new SingletonJobRunner(store, null, keeper, "server-1").run(new JobId("shop", "billing"),
				new RunSettings(TIMING, null, OnLost.SIGNAL, false), (run) -> {
					this.time.advance(seconds(4));
					this.time.freeze(seconds(5));
					this.time.advance(Duration.ZERO);
					assertThat(run.isHeld()).isTrue();
				});
		assertThat(lines(output, "billing: renewal began 3000 ms late")).isEqualTo(1);
	}

	@Test
	void aFreezeThatCostsTheLeaseIsReportedToo(CapturedOutput output) {
		Scheduling scheduling = new Scheduling(this.time, this.time, this.time, new SplittableRandom(1));
		ModelStore store = new ModelStore(this.time);
		LeaseKeeper keeper = new LeaseKeeper(store, scheduling, (run, reason) -> {
		});
		RunOutcome outcome = new SingletonJobRunner(store, null, keeper, "server-1")
			.run(new JobId("shop", "billing"), new RunSettings(TIMING, null, OnLost.SIGNAL, false), (run) -> {
				this.time.advance(seconds(4));
				this.time.freeze(seconds(20));
				this.time.advance(Duration.ZERO);
			})
			.outcome();
		assertThat(outcome).isEqualTo(RunOutcome.LOST);
		assertThat(lines(output, "billing: renewal began 18000 ms late")).isEqualTo(1);
	}

	@Test
	void whichCollectorsPauseIsToldByTheirNames() {
		assertThat(List.of("ZGC Cycles", "Shenandoah Cycles", "G1 Concurrent GC"))
			.noneMatch(GarbageCollections::pauses);
		assertThat(List.of("ZGC Pauses", "Shenandoah Pauses", "G1 Young Generation", "Copy", "PS MarkSweep"))
			.allMatch(GarbageCollections::pauses);
	}

	private void renewal(Duration after) {
		this.watch.planned(this.time.now(), seconds(3));
		this.time.freeze(after);
		this.watch.begins("billing");
	}

	private static long lines(CapturedOutput output, String text) {
		return output.getOut().lines().filter((line) -> line.contains(text)).count();
	}

	private static Duration seconds(long seconds) {
		return Duration.ofSeconds(seconds);
	}

}
