package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

import io.github.singletonjob.lease.Fence.AlreadyRan;
import io.github.singletonjob.lease.Fence.Completion;
import io.github.singletonjob.lease.Fence.Early;
import io.github.singletonjob.lease.Fence.FenceAnswer;
import io.github.singletonjob.lease.Fence.Raised;
import io.github.singletonjob.lease.Fence.Refused;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * What a guarded database knows of fire times, whatever the store has forgotten. Each
 * grant here is one that a wiped store would give: of a fire time that it takes for new.
 */
@Timeout(60)
abstract class FenceFireTimeContract {

	private static final JobId JOB = new JobId("shop", "billing");

	private static final Instant MIDNIGHT = Instant.parse("2026-11-29T00:00:00Z");

	private static final Instant ONE = MIDNIGHT.plus(1, ChronoUnit.HOURS);

	private final GuardedDatabase database;

	private final JdbcFence fence;

	FenceFireTimeContract(GuardedDatabase database) {
		this.database = database;
		this.fence = new JdbcFence(database.plain());
	}

	@AfterEach
	void close() {
		this.database.close();
	}

	private static LeaseGrant grant(long token, Instant fireTime) {
		return grant(token, new GrantedFireTime(new Firing("", fireTime, true), fireTime, false, null));
	}

	private static LeaseGrant grant(long token, GrantedFireTime fireTime) {
		return FakeRun.grant(JOB, token, fireTime);
	}

	private FenceAnswer raise(LeaseGrant grant) {
		return this.fence.raise(grant, "somebody", GuardedDatabase.TIMEOUT);
	}

	private GrantedFireTime begin(LeaseGrant grant) {
		FenceAnswer answer = raise(grant);
		assertThat(answer).isInstanceOf(Raised.class);
		return ((Raised) answer).fireTime();
	}

	private boolean complete(LeaseGrant grant, GrantedFireTime fireTime) {
		return this.fence.complete(grant, fireTime, GuardedDatabase.TIMEOUT) == Completion.RECORDED;
	}

	private FireTimes known() {
		return this.fence.fireTimes(JOB, GuardedDatabase.TIMEOUT).getOrDefault("", FireTimes.NONE);
	}

	@Test
	void aWipedStoreRepeatsNothing() {
		LeaseGrant first = grant(33, MIDNIGHT);
		GrantedFireTime begun = begin(first);
		assertThat(begun.instant()).isEqualTo(MIDNIGHT);
		assertThat(begun.takeover()).isFalse();
		assertThat(known()).isEqualTo(new FireTimes(MIDNIGHT, null));
		assertThat(complete(first, begun)).isTrue();
		assertThat(known()).isEqualTo(new FireTimes(MIDNIGHT, MIDNIGHT));
		assertThat(raise(grant(34, MIDNIGHT))).isEqualTo(new AlreadyRan(MIDNIGHT));
		assertThat(begin(grant(35, ONE)).instant()).isEqualTo(ONE);
	}

	@Test
	void aForgottenOpenFireTimeIsFinishedFirst() {
		begin(grant(33, MIDNIGHT));
		LeaseGrant next = grant(34, ONE);
		GrantedFireTime begun = begin(next);
		assertThat(begun.instant()).isEqualTo(MIDNIGHT);
		assertThat(begun.takeover()).isTrue();
		assertThat(begun.firing()).isEqualTo(next.fireTime().firing());
		complete(next, begun);
		assertThat(begin(grant(35, ONE)).takeover()).isFalse();
	}

	@Test
	void aForgottenFireTimeThatWasStartedIsATakeover() {
		begin(grant(33, MIDNIGHT));
		assertThat(begin(grant(34, MIDNIGHT)).takeover()).isTrue();
	}

	@Test
	void whatIsStartedAtMostOnceIsNotStartedAgain() {
		GrantedFireTime once = new GrantedFireTime(new Firing("", MIDNIGHT, false), MIDNIGHT, false, null);
		begin(grant(33, once));
		assertThat(raise(grant(34, once))).isEqualTo(new AlreadyRan(null));
	}

	@Test
	void whatTheStoreKnowsToBeCompletedIsRemembered() {
		begin(grant(33, new GrantedFireTime(new Firing("", ONE, true), ONE, false, MIDNIGHT)));
		assertThat(known()).isEqualTo(new FireTimes(ONE, MIDNIGHT));
	}

	@Test
	void aTakeoverOfTheStoreIsOneHereToo() {
		GrantedFireTime open = new GrantedFireTime(new Firing("", ONE, true), MIDNIGHT, true, null);
		assertThat(begin(grant(33, open))).isEqualTo(open);
	}

	@Test
	void repeatingARaiseSucceedsWithTheSameFireTime() {
		GrantedFireTime once = new GrantedFireTime(new Firing("", MIDNIGHT, false), MIDNIGHT, false, null);
		LeaseGrant grant = grant(33, once);
		assertThat(begin(grant)).isEqualTo(once);
		assertThat(begin(grant)).isEqualTo(once);
	}

	@Test
	void repeatingARaiseThatHadNothingToRunHasNothingToRun() {
		GrantedFireTime once = new GrantedFireTime(new Firing("", MIDNIGHT, false), MIDNIGHT, false, null);
		begin(grant(33, once));
		LeaseGrant second = grant(34, once);
		raise(second);
		assertThat(raise(second)).isEqualTo(new AlreadyRan(null));
	}

	@Test
	void aStaleCompletionIsRefused() {
		LeaseGrant stale = grant(33, MIDNIGHT);
		GrantedFireTime begun = begin(stale);
		begin(grant(34, MIDNIGHT));
		assertThat(complete(stale, begun)).isFalse();
		assertThat(known()).isEqualTo(new FireTimes(MIDNIGHT, null));
	}

	@Test
	void aCompletionThatMeetsARaiseWaitsForItAndIsRefused() throws Exception {
		LeaseGrant stale = grant(33, MIDNIGHT);
		GrantedFireTime begun = begin(stale);
		CompletableFuture<Boolean> completion;
		try (Connection raising = this.database.plain().getConnection()) {
			raising.setAutoCommit(false);
			GuardedDatabase.lockAsRaise(raising, stale.job());
			GuardedDatabase.execute(raising, "update singleton_job set token = 34, owner = 'owner-34'");
			completion = CompletableFuture.supplyAsync(() -> complete(stale, begun));
			assertThat(completion.copy().completeOnTimeout(null, 300, TimeUnit.MILLISECONDS).get()).isNull();
			raising.commit();
		}
		assertThat(completion.get(10, TimeUnit.SECONDS)).isFalse();
		assertThat(known()).isEqualTo(new FireTimes(MIDNIGHT, null));
	}

	@Test
	void aRaiseSeesTheCompletionThatItHasWaitedFor() throws Exception {
		LeaseGrant completed = grant(33, MIDNIGHT);
		begin(completed);
		CompletableFuture<FenceAnswer> raise;
		try (Connection completing = this.database.plain().getConnection()) {
			completing.setAutoCommit(false);
			GuardedDatabase.check(completing, completed);
			GuardedDatabase.execute(completing, "update singleton_job_fire_time set completed = started");
			raise = CompletableFuture.supplyAsync(() -> raise(grant(34, MIDNIGHT)));
			assertThat(raise.copy().completeOnTimeout(null, 300, TimeUnit.MILLISECONDS).get()).isNull();
			completing.commit();
		}
		assertThat(raise.get(10, TimeUnit.SECONDS)).isEqualTo(new AlreadyRan(MIDNIGHT));
	}

	@Test
	void aStaleGrantIsRefusedAndChangesNothing() {
		begin(grant(34, MIDNIGHT));
		assertThat(raise(grant(33, ONE))).isEqualTo(new Refused(34));
		assertThat(known()).isEqualTo(new FireTimes(MIDNIGHT, null));
	}

	@Test
	void aFireTimeFarAheadOfTheDatabasesClockLeavesNothingBehind() {
		Instant ahead = Instant.now().plus(Firing.CLOCK_TOLERANCE).plusSeconds(60);
		assertThat(raise(grant(33, ahead))).isInstanceOfSatisfying(Early.class,
				(early) -> assertThat(early.databaseTime()).isCloseTo(Instant.now(), within(1, ChronoUnit.MINUTES)));
		assertThat(this.database.outside().sql("select count(*) from singleton_job").query(Long.class).single())
			.isZero();
		assertThat(known()).isEqualTo(FireTimes.NONE);
		Instant bearable = Instant.now().plus(Firing.CLOCK_TOLERANCE).minusSeconds(60);
		begin(grant(34, bearable));
	}

	@Test
	void anExtraRunLeavesFireTimesAlone() {
		begin(grant(33, MIDNIGHT));
		assertThat(this.database.raise(new FakeRun("billing", 34))).isEqualTo(new Raised(null));
		assertThat(known()).isEqualTo(new FireTimes(MIDNIGHT, null));
	}

	@Test
	void ofSeveralRaisesAtOnceOneBeginsAFireTime() throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(6);
		try {
			for (int round = 0; round < 5; round++) {
				Instant due = MIDNIGHT.plus(round, ChronoUnit.HOURS);
				GrantedFireTime once = new GrantedFireTime(new Firing("", due, false), due, false, null);
				List<Callable<FenceAnswer>> raises = LongStream.rangeClosed(6L * round + 1, 6L * round + 6)
					.<Callable<FenceAnswer>>mapToObj((token) -> () -> raise(grant(token, once)))
					.toList();
				List<FenceAnswer> answers = new ArrayList<>();
				for (Future<FenceAnswer> answer : executor.invokeAll(raises, 30, TimeUnit.SECONDS)) {
					answers.add(answer.get());
				}
				assertThat(answers).filteredOn(Raised.class::isInstance).hasSize(1);
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Test
	void aCompletionOfAFireTimeThatTheDatabaseDoesNotKnowIsRecorded() {
		LeaseGrant grant = grant(33, MIDNIGHT);
		GrantedFireTime begun = begin(grant);
		this.database.outside().sql("delete from singleton_job_fire_time").update();
		assertThat(complete(grant, begun)).isTrue();
		assertThat(known()).isEqualTo(new FireTimes(MIDNIGHT, MIDNIGHT));
	}

	@Test
	void schedulesOfAJobAreKeptApart() {
		begin(grant(33, MIDNIGHT));
		begin(grant(34, new GrantedFireTime(new Firing("second", ONE, true), ONE, false, null)));
		assertThat(this.fence.fireTimes(JOB, Duration.ofSeconds(5))).containsEntry("", new FireTimes(MIDNIGHT, null))
			.containsEntry("second", new FireTimes(ONE, null))
			.hasSize(2);
	}

}
