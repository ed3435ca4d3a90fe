package io.github.singletonjob.chaos;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.singletonjob.chaos.History.Entry;
import io.github.singletonjob.chaos.History.Note;

/**
 * Finds in a history what must not be.
 */
final class Checker {

	private final Mode mode;

	private final StoreKind store;

	private final History history;

	private final List<Happening> happenings;

	private final List<String> others = new ArrayList<>();

	Checker(Mode mode, StoreKind store, History history, List<Happening> happenings) {
		this.mode = mode;
		this.store = store;
		this.history = history;
		this.happenings = happenings;
	}

	Verdict check(boolean recovered) {
		if (!recovered) {
			this.others.add("did not recover");
		}
		if (this.history.doubleKeys() > 0) {
			this.others.add(this.history.doubleKeys() + " charges were requested with two keys");
		}
		Timeline timeline = new Timeline(this.store, this.history, this.happenings);
		long gap = timeline.longestGap(BillingBody.JOB);
		long overlap = timeline.longestOverlap(StatementsJob.JOB);
		if (!this.mode.isControl()) {
			this.others.addAll(timeline.findings());
			this.others.addAll(new Reasons(this.history, this.happenings).missing());
		}
		return new Verdict(staleCommits(), doubles(), lostFireTimes(), this.history.notes("REFUSED").size(),
				this.history.notes("LOST").size(), gap, overlap, List.copyOf(this.others));
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
		for (Entry entry : this.history.of(BillingBody.JOB)) {
			if (entry.kind().equals("CHARGE") && !charged.add(entry.period() + "/" + entry.customer())
					&& this.history.isOfRun(entry)) {
				doubles++;
			}
		}
		return doubles;
	}

	private int lostFireTimes() {
		Set<String> open = new HashSet<>();
		Set<String> completed = new HashSet<>();
		for (Entry entry : this.history.of(StatementsJob.JOB)) {
			if (entry.kind().equals("END")) {
				completed.add(String.valueOf(entry.fireTime()));
			}
			else if (this.history.isOfRun(entry) && entry.at() < this.history.settled()) {
				open.add(String.valueOf(entry.fireTime()));
			}
		}
		// Also of a run that was ended before it could write
		this.history.notes("GRANTED")
			.stream()
			.filter((note) -> note.job().equals(StatementsJob.JOB) && note.at() < this.history.settled())
			.forEach((note) -> open.add(note.detail()));
		open.removeAll(completed);
		return open.size();
	}

	/**
	 * Whether a write that was refused, and a lease that was lost, had a reason.
	 */
	private static final class Reasons {

		/** A server notices what happened within a TTL and the time-outs of its calls. */
		private static final long AFTERMATH = Company.TTL + 5000;

		private static final long SLACK = 1000;

		private final History history;

		private final List<Happening> happenings;

		Reasons(History history, List<Happening> happenings) {
			this.history = history;
			this.happenings = happenings;
		}

		List<String> missing() {
			List<String> missing = new ArrayList<>();
			this.history.notes("REFUSED").stream().filter((note) -> !isOvertaken(note)).forEach((note) -> {
				if (!wasLost(note) && !isExplained(note)) {
					missing.add("refused without a reason: " + note);
				}
			});
			this.history.notes("LOST")
				.stream()
				.filter((note) -> !isExplained(note))
				.forEach((note) -> missing.add("lost without a reason: " + note));
			this.history.notes("FAILED")
				.stream()
				.filter((note) -> !isExplained(note))
				.forEach((note) -> missing.add("failed without a reason: " + note));
			return missing;
		}

		private boolean isOvertaken(Note refused) {
			return this.history.of(refused.job())
				.stream()
				.anyMatch((entry) -> entry.token() > refused.token() && entry.at() <= refused.at() + SLACK);
		}

		private boolean wasLost(Note refused) {
			return this.history.notes("LOST")
				.stream()
				.anyMatch((lost) -> lost.job().equals(refused.job()) && lost.token() == refused.token()
						&& lost.at() <= refused.at() + SLACK);
		}

		private boolean isExplained(Note note) {
			return this.happenings.stream().anyMatch((each) -> each.explains(note.server(), note.at(), AFTERMATH))
					|| this.history.notes("PAUSE")
						.stream()
						.anyMatch((pause) -> pause.server().equals(note.server())
								&& Math.abs(note.at() - pause.at()) < AFTERMATH);
		}

	}

}
