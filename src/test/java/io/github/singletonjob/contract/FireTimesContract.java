package io.github.singletonjob.contract;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A fire time that was completed is not granted again; one that was started and not
 * completed is finished by the next holder.
 */
abstract class FireTimesContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private final Instant one = Instant.now().truncatedTo(ChronoUnit.HOURS).minus(3, ChronoUnit.HOURS);

	private final Instant two = this.one.plus(1, ChronoUnit.HOURS);

	abstract Instances instances();

	@Test
	void aCompletedOneIsNotGrantedAgain() {
		JobId job = instances().job("billing");
		complete(instances().open(), job, this.one);
		assertThat(ask(instances().open(), job, firing(this.one))).isEqualTo(new Acquisition.AlreadyRan(this.one));
	}

	@Test
	void anEarlierOneThanTheCompletedIsNotGranted() {
		JobId job = instances().job("billing");
		complete(instances().open(), job, this.two);
		assertThat(ask(instances().open(), job, firing(this.one))).isEqualTo(new Acquisition.AlreadyRan(this.two));
	}

	@Test
	void aLaterOneIsGranted() {
		JobId job = instances().job("billing");
		complete(instances().open(), job, this.one);
		GrantedFireTime next = granted(instances().open(), job, firing(this.two));
		assertThat(next.instant()).isEqualTo(this.two);
		assertThat(next.takeover()).isFalse();
		assertThat(next.completedBefore()).isEqualTo(this.one);
	}

	@Test
	void anOpenOneIsFinishedByTheSameFiringElsewhere() {
		JobId job = instances().job("billing");
		leaveOpen(instances().open(), job, this.one);
		GrantedFireTime taken = granted(instances().open(), job, firing(this.one));
		assertThat(taken.instant()).isEqualTo(this.one);
		assertThat(taken.takeover()).isTrue();
	}

	@Test
	void anOpenOneIsFinishedBeforeALaterOneIsBegun() {
		JobId job = instances().job("billing");
		leaveOpen(instances().open(), job, this.one);
		LeaseStore store = instances().open();
		LeaseGrant first = grant(store, job, firing(this.two));
		assertThat(fireTime(first).instant()).isEqualTo(this.one);
		assertThat(fireTime(first).takeover()).isTrue();
		assertThat(store.release(first, this.one)).isTrue();
		GrantedFireTime second = granted(store, job, firing(this.two));
		assertThat(second.instant()).isEqualTo(this.two);
		assertThat(second.takeover()).isFalse();
	}

	@Test
	void anOpenOneStaysOpenUntilItIsCompleted() {
		JobId job = instances().job("billing");
		leaveOpen(instances().open(), job, this.one);
		LeaseStore store = instances().open();
		assertThat(store.release(grant(store, job, Firing.takeover("")), null)).isTrue();
		assertThat(granted(store, job, Firing.takeover("")).instant()).isEqualTo(this.one);
	}

	@Test
	void aFiringThatMayNotFinishAnOpenOneLeavesItAlone() {
		JobId job = instances().job("billing");
		leaveOpen(instances().open(), job, this.one);
		LeaseStore store = instances().open();
		assertThat(ask(store, job, new Firing("", this.one, false))).isInstanceOf(Acquisition.AlreadyRan.class);
		GrantedFireTime next = granted(store, job, new Firing("", this.two, false));
		assertThat(next.instant()).isEqualTo(this.two);
		assertThat(next.takeover()).isFalse();
	}

	@Test
	void withNothingOpenThereIsNothingToTakeOver() {
		JobId job = instances().job("billing");
		LeaseStore store = instances().open();
		assertThat(ask(store, job, Firing.takeover(""))).isEqualTo(new Acquisition.AlreadyRan(null));
		complete(store, job, this.one);
		assertThat(ask(store, job, Firing.takeover(""))).isEqualTo(new Acquisition.AlreadyRan(this.one));
		instances().acquire(store, job);
	}

	@Test
	void anExtraRunNeitherLooksAtThemNorRecordsThem() {
		JobId job = instances().job("billing");
		LeaseStore store = instances().open();
		leaveOpen(store, job, this.one);
		LeaseGrant extra = instances().acquire(store, job);
		assertThat(extra.fireTime()).isNull();
		assertThat(store.release(extra, null)).isTrue();
		assertThat(store.inspect(job, TIMEOUT).fireTimes()).isEqualTo(Map.of("", new FireTimes(this.one, null)));
	}

	@Test
	void schedulesOfOneJobAreApart() {
		JobId job = instances().job("billing");
		LeaseStore store = instances().open();
		String night = "0 0 1 * * * {Europe/Berlin} \u00fc:\"'";
		LeaseGrant first = grant(store, job, new Firing(night, this.two, true));
		assertThat(store.release(first, this.two)).isTrue();
		LeaseGrant second = grant(store, job, new Firing("0 30 1 * * *", this.one, true));
		assertThat(fireTime(second).instant()).isEqualTo(this.one);
		assertThat(store.release(second, this.one)).isTrue();
		assertThat(store.inspect(job, TIMEOUT).fireTimes()).isEqualTo(
				Map.of(night, new FireTimes(this.two, this.two), "0 30 1 * * *", new FireTimes(this.one, this.one)));
	}

	@Test
	void jobsAreApart() {
		LeaseStore store = instances().open();
		complete(store, instances().job("billing"), this.one);
		granted(store, instances().job("statements"), firing(this.one));
	}

	@Test
	void oneWhoseHolderWentSilentIsOpen() {
		JobId job = instances().job("billing");
		LeaseGrant silent = grant(instances().open(), job, firing(this.one));
		LeaseStore store = instances().open();
		LeaseGrant next = Instances
			.awaitGrant(() -> store.tryAcquire(instances().request(job, "next").forFiring(Firing.takeover(""))));
		assertThat(fireTime(next).instant()).isEqualTo(this.one);
		assertThat(fireTime(next).takeover()).isTrue();
		assertThat(next.followsUnreleased()).isTrue();
		assertThat(next.token()).isGreaterThan(silent.token());
	}

	@Test
	void aHolderThatGaveItsLeaseBackIsNotWaitedFor() {
		JobId job = instances().job("billing");
		LeaseStore store = instances().open();
		LeaseGrant first = instances().acquire(store, job);
		assertThat(first.followsUnreleased()).isFalse();
		store.release(first, null);
		LeaseGrant second = grant(instances().open(), job, firing(this.one));
		assertThat(second.followsUnreleased()).isFalse();
	}

	@Test
	void aStaleHolderRecordsNothing() {
		JobId job = instances().job("billing");
		LeaseStore store = instances().open();
		LeaseGrant stale = grant(store, job, firing(this.one));
		LeaseStore other = instances().open();
		LeaseGrant next = Instances.awaitGrant(() -> other.tryAcquire(instances().request(job, "next")));
		assertThat(store.complete(stale, this.one)).isFalse();
		assertThat(store.release(stale, this.one)).isFalse();
		assertThat(other.inspect(job, TIMEOUT).fireTimes()).isEqualTo(Map.of("", new FireTimes(this.one, null)));
		assertThat(Instances.renew(other, next)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void oneCanBeCompletedWhileTheLeaseIsKept() {
		JobId job = instances().job("billing");
		LeaseStore store = instances().open();
		LeaseGrant grant = grant(store, job, firing(this.one));
		assertThat(store.complete(grant, this.one)).isTrue();
		LeaseStore other = instances().open();
		LeaseRecord record = other.inspect(job, TIMEOUT);
		assertThat(record.held()).isTrue();
		assertThat(record.fireTimes()).isEqualTo(Map.of("", new FireTimes(this.one, this.one)));
		assertThat(store.release(grant, this.one)).isTrue();
		assertThat(ask(other, job, firing(this.one))).isInstanceOf(Acquisition.AlreadyRan.class);
	}

	@Test
	void whatWasCompletedNeverGoesBack() {
		JobId job = instances().job("billing");
		LeaseStore store = instances().open();
		complete(store, job, this.two);
		LeaseGrant grant = grant(store, job, firing(this.two.plus(1, ChronoUnit.HOURS)));
		assertThat(store.release(grant, this.one)).isTrue();
		assertThat(store.inspect(job, TIMEOUT).fireTimes().get(""))
			.isEqualTo(new FireTimes(this.two.plus(1, ChronoUnit.HOURS), this.two));
	}

	@Test
	void aRequestThatIsRepeatedGetsTheSameOne() {
		JobId job = instances().job("billing");
		leaveOpen(instances().open(), job, this.one);
		LeaseStore store = instances().open();
		var request = instances().request(job, "somebody").forFiring(firing(this.two));
		LeaseGrant first = instances().acquire(store, request);
		LeaseGrant again = instances().acquire(store, request);
		assertThat(again.token()).isEqualTo(first.token());
		assertThat(again.fireTime()).isEqualTo(first.fireTime());
	}

	@Test
	void oneFarAheadOfTheStoresClockIsRefused() {
		Assumptions.assumeTrue(instances().traits().hasClock(), "this store has no clock");
		JobId job = instances().job("billing");
		LeaseStore store = instances().open();
		assertThat(ask(store, job, firing(Instant.now().plus(6, ChronoUnit.MINUTES))))
			.isInstanceOf(Acquisition.Early.class);
		granted(store, job, firing(Instant.now().truncatedTo(ChronoUnit.SECONDS).plus(4, ChronoUnit.MINUTES)));
	}

	@Test
	void inspectingTellsWhoHoldsTheJob() {
		JobId job = instances().job("billing");
		LeaseStore store = instances().open();
		LeaseStore other = instances().open();
		assertThat(other.inspect(job, TIMEOUT)).isEqualTo(new LeaseRecord(false, null, 0, null, Map.of()));
		LeaseGrant grant = instances().acquire(store, instances().request(job, "server-1"));
		LeaseRecord record = other.inspect(job, TIMEOUT);
		assertThat(record.held()).isTrue();
		assertThat(record.holder()).isEqualTo("server-1");
		assertThat(record.token()).isEqualTo(grant.token());
		if (record.expiresIn() != null) {
			assertThat(record.expiresIn()).isPositive().isLessThanOrEqualTo(instances().ttl());
		}
		store.release(grant, null);
		assertThat(other.inspect(job, TIMEOUT)).isEqualTo(new LeaseRecord(false, null, grant.token(), null, Map.of()));
	}

	private void complete(LeaseStore store, JobId job, Instant fireTime) {
		LeaseGrant grant = grant(store, job, firing(fireTime));
		assertThat(store.release(grant, fireTime)).isTrue();
	}

	private void leaveOpen(LeaseStore store, JobId job, Instant fireTime) {
		assertThat(store.release(grant(store, job, firing(fireTime)), null)).isTrue();
	}

	private static Firing firing(Instant fireTime) {
		return new Firing("", fireTime, true);
	}

	private Acquisition ask(LeaseStore store, JobId job, @Nullable Firing firing) {
		return store.tryAcquire(instances().request(job, "somebody").forFiring(firing));
	}

	private LeaseGrant grant(LeaseStore store, JobId job, Firing firing) {
		return instances().acquire(store, instances().request(job, "somebody").forFiring(firing));
	}

	private GrantedFireTime granted(LeaseStore store, JobId job, Firing firing) {
		return fireTime(grant(store, job, firing));
	}

	private static GrantedFireTime fireTime(LeaseGrant grant) {
		GrantedFireTime fireTime = grant.fireTime();
		assertThat(fireTime).isNotNull();
		return Objects.requireNonNull(fireTime);
	}

}
