package io.github.singletonjob.chaos;

import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.chaos.History.Entry;
import io.github.singletonjob.chaos.History.Event;
import io.github.singletonjob.chaos.History.Fault;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Histories in which something is wrong, and the check that has to see it.
 */
class CheckerTests {

	private static final long SETTLED = 30_000;

	private final List<Entry> entries = new ArrayList<>();

	private final List<Event> events = new ArrayList<>();

	private final List<Fault> faults = new ArrayList<>();

	private long doubleKeys;

	private @Nullable String reported;

	@Test
	void aHistoryWithATakeoverIsRight() {
		billing("BEGIN", 7, 1000, 0).billing("CHARGE", 7, 1100, 1).billing("BEGIN", 8, 3000, 0);
		billing("CHARGE", 8, 3100, 2);
		note("billing", "REFUSED", 7, 3200, "").note("billing", "LOST", 7, 3200, "");
		happened(FaultKind.FREEZE, "one", 1150, 3190);
		Verdict verdict = check();
		assertThat(verdict.violations()).as(verdict.toString()).isZero();
		assertThat(verdict.refused()).isOne();
	}

	@Test
	void aWriteOfAnOlderRunIsAStaleCommit() {
		billing("BEGIN", 7, 1000, 0).billing("BEGIN", 8, 2000, 0).billing("CHARGE", 7, 2100, 1);
		assertThat(check().staleCommits()).isOne();
		assertThat(check().damage()).isPositive();
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
		assertThat(check().lostFireTimes()).hasSize(1);
	}

	@Test
	void aFireTimeThatWasGrantedAndNeverBeganIsLost() {
		note(StatementsJob.JOB, "GRANTED", 7, 1000, "00:00:03");
		assertThat(check().lostFireTimes()).hasSize(1);
		statement("BEGIN", 8, 2000, "00:00:03").statement("END", 8, 2100, "00:00:03");
		assertThat(check().lostFireTimes()).isEmpty();
	}

	@Test
	void aFireTimeThatHasBegunWhenAllWasWellIsNotLost() {
		statement("BEGIN", 7, SETTLED, "00:00:03");
		assertThat(check().violations()).isZero();
	}

	@Test
	void aFireTimeThatAnotherRunHasFinishedIsNotLost() {
		statement("BEGIN", 7, 1000, "00:00:03").statement("BEGIN", 8, 2000, "00:00:03");
		statement("END", 8, 2100, "00:00:03");
		assertThat(check().violations()).isZero();
	}

	@Test
	void aReportThatNoRunHasRecordedIsLost() {
		report(7, 1000, "00:00:02", ReportJob.STEPS);
		assertThat(check().lostFireTimes()).containsExactly("00:00:02");
		this.reported = "00:00:02";
		assertThat(check().violations()).isZero();
	}

	@Test
	void aReportThatCountsAsCompletedAndOfWhichStepsAreMissingIsHalfDone() {
		report(7, 1000, "00:00:02", ReportJob.STEPS - 1);
		this.reported = "00:00:04";
		assertThat(check().halfDone()).containsExactly("00:00:02");
		assertThat(check().damage()).isOne();
	}

	@Test
	void aReportThatWasGrantedAndOfWhichAllIsMissingIsHalfDone() {
		note(ReportJob.JOB, "GRANTED", 7, 1000, "00:00:02");
		this.reported = "00:00:02";
		assertThat(check().halfDone()).containsExactly("00:00:02");
	}

	@Test
	void stepsOfTwoRunsAreNotTheReportOfOne() {
		report(7, 1000, "00:00:02", ReportJob.STEPS - 1).report(8, 3000, "00:00:02", ReportJob.STEPS - 1);
		this.reported = "00:00:02";
		assertThat(check().halfDone()).containsExactly("00:00:02");
	}

	@Test
	void aReportThatAnotherRunHasWrittenAgainIsRight() {
		report(7, 1000, "00:00:02", 3).report(8, 3000, "00:00:02", ReportJob.STEPS);
		this.reported = "00:00:02";
		assertThat(check().violations()).isZero();
	}

	@Test
	void aBodyThatThrewWhileItsLeaseWasHeldLeavesHalfAReport() {
		report(7, 1000, "00:00:02", 3).note(ReportJob.JOB, "FAILED", 7, 1300, "");
		happened(FaultKind.DATABASE_RESET, "one", 1290, 1291);
		this.reported = "00:00:02";
		assertThat(check().violations()).isZero();
	}

	@Test
	void aBodyThatThrewWithTheEndOfItsLeaseDoesNot() {
		report(7, 1000, "00:00:02", 3).note(ReportJob.JOB, "FAILED", 7, 1300, "");
		happened(FaultKind.SESSIONS_ENDED, Fault.ALL, 1290, 1291);
		this.reported = "00:00:02";
		assertThat(check().halfDone()).containsExactly("00:00:02");
		assertThat(checker(StoreKind.REDIS).check(true).violations()).as("where leases are no sessions").isZero();
	}

	@Test
	void aBodyThatThrewAndWhoseRunWasLostDoesNot() {
		report(7, 1000, "00:00:02", 3).note(ReportJob.JOB, "FAILED", 7, 1300, "");
		note(ReportJob.JOB, "LOST", 7, 1400, "");
		happened(FaultKind.BOTH_CUT, "one", 1290, 1390);
		this.reported = "00:00:02";
		assertThat(check().halfDone()).containsExactly("00:00:02");
	}

	@Test
	void aBodyThatThrewAfterANewerOneHadBegunDoesNot() {
		report(7, 1000, "00:00:02", 3).report(8, 1200, "00:00:02", 1);
		note(ReportJob.JOB, "FAILED", 7, 1300, "");
		happened(FaultKind.BOTH_CUT, "one", 1190, 1290);
		this.reported = "00:00:02";
		assertThat(check().halfDone()).containsExactly("00:00:02");
	}

	@Test
	void aTokenThatTwoRunsWereGrantedIsFound() {
		note("billing", "GRANTED", 7, 1000, "").note("statements", "GRANTED", 7, 1100, "00:00:03");
		this.faults.add(new Fault(FaultKind.DATABASE_PROMOTION, Fault.ALL, 900, 2000));
		assertThat(check().violations()).isZero();
		note("billing", "GRANTED", 7, 2100, "");
		assertThat(check().repeatedTokens()).containsExactly("billing 7");
		assertThat(check().damage()).isOne();
	}

	@Test
	void aNumberThatTwoBodiesHadIsFound() {
		note("billing", "BODY", 7, 1000, "").note("billing", "BODY", 7, 2100, "");
		assertThat(check().repeatedTokens()).containsExactly("billing 7");
	}

	@Test
	void whatAPromotedReplicaHasNotHeardOfIsNotLost() {
		happened(FaultKind.DATABASE_PROMOTION, Fault.ALL, 2000, 3000);
		note(StatementsJob.JOB, "GRANTED", 8, 2100, "00:00:03").report(9, 2200, "00:00:04", 3);
		this.reported = "00:00:06";
		assertThat(check().violations()).isZero();
		note(StatementsJob.JOB, "GRANTED", 7, 1000, "00:00:00").report(7, 1000, "00:00:02", 3);
		assertThat(check().lostFireTimes()).containsExactly("00:00:00");
		assertThat(check().halfDone()).containsExactly("00:00:02");
	}

	@Test
	void whatAStoreHasRecordedDuringAPromotionIsNotRepeated() {
		happened(FaultKind.DATABASE_PROMOTION, Fault.ALL, 2000, 3000);
		report(7, 1000, "00:00:02", 3).note(ReportJob.JOB, "ENDED", 7, 2100, "00:00:02");
		this.reported = "00:00:02";
		assertThat(checker(StoreKind.REDIS).check(true).violations()).isZero();
		assertThat(check().halfDone()).as("with leases in the database itself").containsExactly("00:00:02");
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
		happened(FaultKind.STORE_RESTART, Fault.ALL, 1000, 1050);
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
		happened(FaultKind.STORE_FROZEN, Fault.ALL, 1000, 8000);
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
		return add(BillingJob.JOB, kind, token, at, customer, null);
	}

	private CheckerTests statement(String kind, long token, long at, String fireTime) {
		return add(StatementsJob.JOB, kind, token, at, 0, fireTime);
	}

	private CheckerTests report(long token, long at, String fireTime, int steps) {
		note(ReportJob.JOB, "BODY", token, at, fireTime);
		for (int step = 0; step < steps; step++) {
			add(ReportJob.JOB, "STEP", token, at + step, step, fireTime);
		}
		return this;
	}

	private CheckerTests add(String job, String kind, long token, long at, int customer, String fireTime) {
		this.entries.add(new Entry(this.entries.size() + 1, at, job, kind, token, 1, customer, fireTime, "one"));
		return this;
	}

	private CheckerTests note(String job, String kind, long token, long at, String detail) {
		this.events.add(new Event(at, "one", job, kind, token, detail));
		return this;
	}

	private void happened(FaultKind kind, String server, long from, long to) {
		this.faults.add(new Fault(kind, server, from, to));
	}

	private Verdict check() {
		return checker().check(true);
	}

	private Checker checker() {
		return checker(StoreKind.POSTGRES);
	}

	private Checker checker(StoreKind store) {
		return new Checker(Mode.FENCED, store,
				new History(this.entries, this.events, this.faults, 1, SETTLED, this.doubleKeys, this.reported));
	}

}
