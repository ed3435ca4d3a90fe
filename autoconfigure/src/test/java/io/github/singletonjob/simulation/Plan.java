package io.github.singletonjob.simulation;

import java.time.Duration;

import io.github.singletonjob.Handover;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.OnShutdown;
import io.github.singletonjob.runtime.LeaseTiming;
import io.github.singletonjob.runtime.RunSettings;

/**
 * What is fixed for a whole schedule.
 *
 * @param kind the store
 * @param flaw what it does wrong
 * @param instances how many there are
 * @param settings the settings of the job
 * @param stages whether bodies are stages
 * @param takeover whether a fire time that was started and not completed is finished
 * @param interval the time between two fire times
 * @param faultsEnd when the last fault happens and the last firing, in nanoseconds
 * @param trouble how much goes wrong: 0 for nothing
 * @param slowRaise whether the fence takes long to be raised
 */
record Plan(StoreKind kind, Flaw flaw, int instances, RunSettings settings, boolean stages, boolean takeover,
		Duration interval, long faultsEnd, double trouble, boolean slowRaise) {

	private static final int[] TTLS = { 2, 3, 5, 10 };

	static Plan roll(Dice dice, Flaw flaw) {
		int ttl = TTLS[(int) dice.between(0, TTLS.length - 1)];
		LeaseTiming timing = LeaseTiming.of(Duration.ofSeconds(ttl), null, null);
		Duration maxRun = dice.chance(0.15) ? Duration.ofSeconds(dice.between(2, 4L * ttl)) : null;
		Duration minHold = (maxRun == null && dice.chance(0.2)) ? Duration.ofSeconds(dice.between(1, 3L * ttl)) : null;
		OnLost onLost = dice.chance(0.2) ? OnLost.SIGNAL : OnLost.INTERRUPT;
		RunSettings settings = new RunSettings(timing, new RunSettings.Length(minHold, maxRun), onLost, Handover.FAST,
				OnShutdown.CANCEL, false);
		double trouble = dice.chance(0.15) ? 0 : dice.fraction(0.2, 1);
		Duration interval = Duration.ofSeconds(dice.between(ttl, 4L * ttl));
		long faultsEnd = interval.multipliedBy(dice.between(3, 6)).toNanos();
		return new Plan(dice.oneOf(StoreKind.values()), flaw, (int) dice.between(2, 4), settings, dice.chance(0.3),
				dice.chance(0.9), interval, faultsEnd, trouble, dice.chance(0.15));
	}

	LeaseTiming timing() {
		return this.settings.timing();
	}

	long ttl() {
		return timing().ttl().toNanos();
	}

	long reliable() {
		return timing().reliable().toNanos();
	}

	long stopEarly() {
		return timing().stopEarly().toNanos();
	}

	boolean isCalm() {
		return this.trouble == 0;
	}

}
