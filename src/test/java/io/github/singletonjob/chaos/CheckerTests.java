package io.github.singletonjob.chaos;

import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.chaos.History.Entry;
import io.github.singletonjob.chaos.History.Note;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Histories in which something is wrong, and the check that has to see it.
 */
class CheckerTests {

	private static final long SETTLED = 30_000;

	private final List<Entry> entries = new ArrayList<>();

	private final List<Note> notes = new ArrayList<>();

	private final List<Happening> happenings = new ArrayList<>();

	private long doubleKeys;

	@Test
	void aHistoryWithATakeoverIsRight() {
		billing("BEGIN", 7, 1000, 0).billing("CHARGE", 7, 1100, 1).billing("BEGIN", 8, 3000, 0);
		billing("CHARGE", 8, 3100, 2);
		note("billing", "REFUSED", 7, 3200, "").note("billing", "LOST", 7, 3200, "");
		happened(FaultKind.FREEZE, "one", 1150, 3190);
		Verdict verdict = check();
		assertThat(verdict.isViolation()).as(verdict.toString()).isFalse();
		assertThat(verdict.refused()).isOne();
	}

	@Test
	void aWriteOfAnOlderRunIsAStaleCommit() {
		billing("BEGIN", 7, 1000, 0).billing("BEGIN", 8, 2000, 0).billing("CHARGE", 7, 2100, 1);
		assertThat(check().staleCommits()).isOne();
		assertThat(check().isDamage()).isTrue();
	}

	@Test
	void aCustomerChargedTwiceForAPeriodIsADouble() {
		billing("BEGIN", 7, 1000, 0).billing("CHARGE", 7, 1100, 1).billing("CHARGE", 7, 1200, 1);
		assertThat(check().doubles()).isOne();
	}

	@Test
	void aChargeRequestedWithTwoKeysIsFound() {
		this.doubleKeys = 1;
		assertThat(check().others()).containsExactly("1 charges were requested with two keys");
	}

	@Test
	void aFireTimeWithoutAnEndIsLost() {
		statement("BEGIN", 7, 1000, "00:00:03").statement("BEGIN", 8, 2000, "00:00:06");
		statement("END", 8, 2100, "00:00:06");
		assertThat(check().lostFireTimes()).isOne();
	}

	@Test
	void aFireTimeThatWasGrantedAndNeverBeganIsLost() {
		note(StatementsJob.JOB, "GRANTED", 7, 1000, "00:00:03");
		assertThat(check().lostFireTimes()).isOne();
		statement("BEGIN", 8, 2000, "00:00:03").statement("END", 8, 2100, "00:00:03");
		assertThat(check().lostFireTimes()).isZero();
	}

	@Test
	void aFireTimeThatHasBegunWhenAllWasWellIsNotLost() {
		statement("BEGIN", 7, SETTLED, "00:00:03");
		assertThat(check().isViolation()).isFalse();
	}

	@Test
	void aFireTimeThatAnotherRunHasFinishedIsNotLost() {
		statement("BEGIN", 7, 1000, "00:00:03").statement("BEGIN", 8, 2000, "00:00:03");
		statement("END", 8, 2100, "00:00:03");
		assertThat(check().isViolation()).isFalse();
	}

	@Test
	void aRefusalWithoutAReasonIsFound() {
		billing("BEGIN", 7, 1000, 0);
		note("billing", "REFUSED", 7, 1100, "");
		assertThat(check().others()).singleElement().asString().startsWith("refused without a reason");
	}

	@Test
	void aLossWithoutAFaultIsFound() {
		note("billing", "LOST", 7, 1100, "");
		happened(FaultKind.FREEZE, "another", 1000, 1050);
		assertThat(check().others()).singleElement().asString().startsWith("lost without a reason");
	}

	@Test
	void aFailureWithoutAFaultIsFound() {
		note("billing", "FAILED", 7, 1100, "");
		assertThat(check().others()).singleElement().asString().startsWith("failed without a reason");
	}

	@Test
	void aPauseOfTheMachineIsAReasonForALoss() {
		note("billing", "LOST", 7, 2100, "").note("", "PAUSE", 0, 1000, "1050");
		assertThat(check().others()).isEmpty();
	}

	@Test
	void whatHappenedLongBeforeIsNoReasonForALoss() {
		note("billing", "LOST", 7, 20_000, "");
		happened(FaultKind.STORE_RESTART, Happening.STORE, 1000, 1050);
		assertThat(check().others()).hasSize(1);
	}

	@Test
	void aStepOfTheClockIsNoReasonForALoss() {
		note("billing", "LOST", 7, 1100, "");
		happened(FaultKind.CLOCK_STEP, "one", 1000, 1050);
		assertThat(check().others()).hasSize(1);
	}

	@Test
	void aJobThatNobodyHoldsForTooLongIsFound() {
		billing("BEGIN", 7, 1000, 0).billing("BEGIN", 8, 6000, 0);
		happened(FaultKind.KILL, "one", 1000, 1500);
		assertThat(check().longestGap()).isEqualTo(5000);
		assertThat(check().others()).isNotEmpty().allMatch((finding) -> finding.startsWith("nobody held billing"));
	}

	@Test
	void theTimeInWhichTheStoreIsDownDoesNotCount() {
		billing("BEGIN", 7, 1000, 0).billing("BEGIN", 8, 9000, 0);
		happened(FaultKind.STORE_FROZEN, Happening.STORE, 1000, 8000);
		assertThat(check().longestGap()).isEqualTo(1000);
		assertThat(check().others()).isEmpty();
	}

	@Test
	void etcdMayEndALeaseHalfASecondLateAndNoOther() {
		billing("BEGIN", 7, 1000, 0).billing("BEGIN", 8, 4550, 0);
		happened(FaultKind.KILL, "one", 1000, 1500);
		assertThat(checker(StoreKind.ETCD).check(true).others()).isEmpty();
		assertThat(checker(StoreKind.REDIS).check(true).others()).hasSize(1);
		billing("BEGIN", 9, 8250, 0);
		assertThat(checker(StoreKind.ETCD).check(true).others()).hasSize(1);
	}

	@Test
	void bodiesThatOverlapForTooLongAreFound() {
		statement("BEGIN", 7, 1000, "00:00:03").statement("BEGIN", 8, 2000, "00:00:03");
		statement("END", 8, 2600, "00:00:03");
		note("statements", "STEP", 7, 3900, "");
		assertThat(check().longestOverlap()).isEqualTo(1900);
		assertThat(check().others()).singleElement().asString().startsWith("two bodies overlapped");
	}

	@Test
	void theTimeInWhichAServerWasFrozenIsNoOverlap() {
		statement("BEGIN", 7, 1000, "00:00:03").statement("BEGIN", 8, 2000, "00:00:03");
		statement("END", 8, 2600, "00:00:03");
		note("statements", "STEP", 7, 3900, "").note("", "PAUSE", 0, 1100, "2750");
		assertThat(check().longestOverlap()).isEqualTo(50);
		assertThat(check().others()).isEmpty();
	}

	@Test
	void thatAllIsNotWellAgainIsFound() {
		assertThat(checker().check(false).others()).containsExactly("did not recover");
	}

	private CheckerTests billing(String kind, long token, long at, int customer) {
		return add(BillingBody.JOB, kind, token, at, customer, null);
	}

	private CheckerTests statement(String kind, long token, long at, String fireTime) {
		return add(StatementsJob.JOB, kind, token, at, 0, fireTime);
	}

	private CheckerTests add(String job, String kind, long token, long at, int customer, String fireTime) {
		this.entries.add(new Entry(this.entries.size() + 1, at, job, kind, token, 1, customer, fireTime, "one"));
		return this;
	}

	private CheckerTests note(String job, String kind, long token, long at, String detail) {
		this.notes.add(new Note(at, "one", job, kind, token, detail));
		return this;
	}

	private void happened(FaultKind kind, String server, long from, long to) {
		this.happenings.add(new Happening(kind, server, from, to));
	}

	private Verdict check() {
		return checker().check(true);
	}

	private Checker checker() {
		return checker(StoreKind.POSTGRES);
	}

	private Checker checker(StoreKind store) {
		return new Checker(Mode.FENCED, store, new History(this.entries, this.notes, 1, SETTLED, this.doubleKeys),
				this.happenings);
	}

}
