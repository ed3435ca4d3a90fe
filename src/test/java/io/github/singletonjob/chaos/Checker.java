package io.github.singletonjob.chaos;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.singletonjob.chaos.History.Entry;
import io.github.singletonjob.chaos.History.Event;

/**
 * Finds in a history what must not be.
 */
final class Checker {

	/** How far a replica may be behind that nothing holds up. */
	private static final long REPLICATION_LAG = 500;

	private final Mode mode;

	private final StoreKind store;

	private final History history;

	private final List<String> others = new ArrayList<>();

	Checker(Mode mode, StoreKind store, History history) {
		this.mode = mode;
		this.store = store;
		this.history = history;
	}

	Verdict check(boolean recovered) {
		if (!recovered) {
			this.others.add("did not recover");
		}
		if (this.history.doubleKeys() > 0) {
			this.others.add(this.history.doubleKeys() + " charges were requested with two keys");
		}
		Timeline timeline = new Timeline(this.store, this.history);
		long gap = timeline.longestGap(BillingJob.JOB);
		long overlap = timeline.longestOverlap(StatementsJob.JOB);
		if (!this.mode.isControl()) {
			this.others.addAll(timeline.findings());
			this.others.addAll(new Reasons(this.history).missing());
		}
		return new Verdict(1, staleCommits(), doubles(), openFireTimes(), halfDone(), repeatedTokens(),
				this.history.events("REFUSED").size(), this.history.events("LOST").size(), gap, overlap,
				List.copyOf(this.others));
	}

	/** Each job's tokens never go down, and a run's first entry is its beginning. */
	private int staleCommits() {
		Map<String, Long> newest = new HashMap<>();
		int stale = 0;
		for (Entry entry : this.history.entries()) {
			long before = newest.merge(entry.job(), entry.token(), Math::max);
			if (entry.token() < before && this.history.isOfRun(entry)) {
				stale++;
			}
		}
		return stale;
	}

	private int doubles() {
		Set<String> charged = new HashSet<>();
		int doubles = 0;
		for (Entry entry : this.history.entries(BillingJob.JOB)) {
			if (entry.kind().equals("CHARGE") && !charged.add(entry.period() + "/" + entry.customer())
					&& this.history.isOfRun(entry)) {
				doubles++;
			}
		}
		return doubles;
	}

	/**
	 * Fire times that a run was granted before all was well again, and that stay open.
	 */
	List<String> openFireTimes() {
		Set<String> open = begun(StatementsJob.JOB);
		this.history.entries(StatementsJob.JOB)
			.stream()
			.filter((entry) -> entry.kind().equals("END"))
			.forEach((entry) -> open.remove(String.valueOf(entry.fireTime())));
		if (this.mode.fencing) {
			begun(ReportJob.JOB).stream().filter((fireTime) -> !isReported(fireTime)).forEach(open::add);
		}
		return List.copyOf(open);
	}

	/**
	 * Reports that count as completed though no run has written all of them, unless a
	 * body threw while its lease was held.
	 */
	private List<String> halfDone() {
		return begun(ReportJob.JOB).stream()
			.filter((fireTime) -> isReported(fireTime) && !isWhole(fireTime) && !hasFailedWhileItWasHeld(fireTime))
			.toList();
	}

	private boolean isReported(String fireTime) {
		String reported = this.history.reported();
		return reported != null && fireTime.compareTo(reported) <= 0;
	}

	private boolean isWhole(String fireTime) {
		return this.history.entries(ReportJob.JOB)
			.stream()
			.filter((entry) -> fireTime.equals(entry.fireTime()))
			.collect(Collectors.groupingBy(Entry::token, Collectors.mapping(Entry::customer, Collectors.toSet())))
			.values()
			.stream()
			.anyMatch((steps) -> steps.size() == ReportJob.STEPS);
	}

	private boolean hasFailedWhileItWasHeld(String fireTime) {
		return this.history.events("BODY", ReportJob.JOB)
			.stream()
			.filter((body) -> body.detail().equals(fireTime))
			.anyMatch((body) -> this.history.events("FAILED", ReportJob.JOB)
				.stream()
				.anyMatch((failed) -> failed.token() == body.token() && wasHeld(body, failed)));
	}

	private boolean wasHeld(Event body, Event failed) {
		boolean wasLost = this.history.events("LOST", ReportJob.JOB)
			.stream()
			.anyMatch((lost) -> lost.token() == failed.token());
		boolean wasFollowed = this.history.events("BODY", ReportJob.JOB)
			.stream()
			.anyMatch((other) -> other.token() > failed.token() && other.at() <= failed.at());
		boolean wasEnded = this.history.faults()
			.stream()
			.anyMatch((fault) -> fault.kind().endsLeases(this.store) && fault.hits(failed.server())
					&& fault.from() > body.at() && fault.from() <= failed.at());
		return !wasLost && !wasFollowed && !wasEnded;
	}

	/** Also of a run that was ended before it could write. */
	private Set<String> begun(String job) {
		Stream<String> granted = this.history.events("GRANTED", job)
			.stream()
			.filter((event) -> isToBeFinished(event.at()))
			.map(Event::detail);
		Stream<String> written = this.history.entries(job)
			.stream()
			.filter((entry) -> isFirst(entry) && this.history.isOfRun(entry) && isToBeFinished(entry.at()))
			.map((entry) -> String.valueOf(entry.fireTime()));
		return Stream.concat(granted, written)
			.filter((fireTime) -> !hasEndedInPromotion(job, fireTime))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private boolean isToBeFinished(long begun) {
		return begun < this.history.settled() && !isForgotten(begun);
	}

	private static boolean isFirst(Entry entry) {
		return entry.kind().equals("BEGIN") || (entry.kind().equals("STEP") && entry.customer() == 0);
	}

	/** What a primary has not handed on, its replica knows nothing of. */
	private boolean isForgotten(long at) {
		return this.history.faults()
			.stream()
			.anyMatch((fault) -> fault.kind() == FaultKind.DATABASE_PROMOTION && at > fault.from() - REPLICATION_LAG
					&& at < fault.to());
	}

	/**
	 * A store that was not promoted remembers a completion that the database has lost
	 * together with the work.
	 */
	private boolean hasEndedInPromotion(String job, String fireTime) {
		return this.store != StoreKind.POSTGRES && this.history.events("ENDED", job)
			.stream()
			.anyMatch((ended) -> ended.detail().equals(fireTime) && isForgotten(ended.at()));
	}

	private List<String> repeatedTokens() {
		Set<String> repeated = new TreeSet<>();
		for (String kind : List.of("GRANTED", "BODY")) {
			Set<String> seen = new HashSet<>();
			this.history.events(kind)
				.stream()
				.map((event) -> event.job() + " " + event.token())
				.filter((run) -> !seen.add(run))
				.forEach(repeated::add);
		}
		return List.copyOf(repeated);
	}

	/**
	 * Whether a write that was refused, and a lease that was lost, had a reason.
	 */
	private static final class Reasons {

		/** A server notices what happened within a TTL and the time-outs of its calls. */
		private static final long AFTERMATH = Deployment.TTL + 5000;

		private static final long SLACK = 1000;

		private final History history;

		Reasons(History history) {
			this.history = history;
		}

		List<String> missing() {
			List<String> missing = new ArrayList<>();
			this.history.events("REFUSED")
				.stream()
				.filter((event) -> !isOvertaken(event) && !wasLost(event) && !isExplained(event))
				.forEach((event) -> missing.add("refused without a reason: " + event));
			this.history.events("LOST")
				.stream()
				.filter((event) -> !isExplained(event))
				.forEach((event) -> missing.add("lost without a reason: " + event));
			this.history.events("FAILED")
				.stream()
				.filter((event) -> !isExplained(event))
				.forEach((event) -> missing.add("failed without a reason: " + event));
			return missing;
		}

		private boolean isOvertaken(Event refused) {
			return this.history.entries(refused.job())
				.stream()
				.anyMatch((entry) -> entry.token() > refused.token() && entry.at() <= refused.at() + SLACK);
		}

		private boolean wasLost(Event refused) {
			return this.history.events("LOST", refused.job())
				.stream()
				.anyMatch((lost) -> lost.token() == refused.token() && lost.at() <= refused.at() + SLACK);
		}

		private boolean isExplained(Event event) {
			return this.history.faults()
				.stream()
				.anyMatch((fault) -> fault.explains(event.server(), event.at(), AFTERMATH))
					|| this.history.events("PAUSE")
						.stream()
						.anyMatch((pause) -> pause.server().equals(event.server())
								&& Math.abs(event.at() - pause.at()) < AFTERMATH);
		}

	}

}
