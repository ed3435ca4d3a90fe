package io.github.singletonjob.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.github.singletonjob.chaos.History.Entry;
import io.github.singletonjob.chaos.History.Event;
import io.github.singletonjob.chaos.History.Fault;

/**
 * How long a job had no holder, and how long two of its bodies overlapped.
 */
final class Timeline {

	/** TTL, the time to the next firing, and a second. */
	private static final long GAP = Deployment.TTL + 100 + 1000;

	/** etcd looks every half a second which leases are over. */
	private static final long ETCD_EXPIRY = 500;

	/**
	 * A change of the leading member prolongs leases, and the election takes its time.
	 */
	private static final long LEADER_CHANGE = 2 * Deployment.TTL;

	/** Between two looks of the body at its lease. */
	private static final long STEP = 200;

	private static final long OVERLAP = Deployment.TTL * 7 / 10 + STEP;

	private final StoreKind store;

	private final History history;

	private final List<String> findings = new ArrayList<>();

	Timeline(StoreKind store, History history) {
		this.store = store;
		this.history = history;
	}

	List<String> findings() {
		return this.findings;
	}

	/**
	 * The longest time without an accepted write, counted from the last change of
	 * circumstances, without the time in which the store or the holder's way to the
	 * database was down.
	 */
	long longestGap(String job) {
		long longest = 0;
		Entry last = null;
		for (Entry entry : this.history.entries(job)) {
			if (last != null && this.history.isOfRun(entry)) {
				long gap = gap(last.at(), entry.at());
				longest = Math.max(longest, gap);
				if (gap > allowed(last.at(), entry.at())) {
					this.findings.add("nobody held " + job + " for " + gap + " ms from " + last.at());
				}
			}
			last = entry;
		}
		return longest;
	}

	private long gap(long from, long to) {
		Set<Long> cuts = new TreeSet<>(Set.of(from));
		cuts.add(to);
		this.history.faults()
			.stream()
			.flatMap(Timeline::changes)
			.filter((cut) -> cut > from && cut < to)
			.forEach(cuts::add);
		long longest = 0;
		long previous = from;
		for (long cut : cuts) {
			if (!isDown(previous, cut)) {
				longest = Math.max(longest, cut - previous);
			}
			previous = cut;
		}
		return longest;
	}

	/** That a server is replaced, or wakes up, is no reason to be without a holder. */
	private static Stream<Long> changes(Fault each) {
		boolean ofOneServer = each.kind().place == FaultKind.Place.SERVER || each.kind().place == FaultKind.Place.CLOCK;
		return ofOneServer ? Stream.of(each.from()) : Stream.of(each.from(), each.to());
	}

	/**
	 * One server without its database keeps its lease, as long as it reaches the store.
	 */
	private boolean isDown(long from, long to) {
		return this.history.faults()
			.stream()
			.filter((each) -> each.kind().excusesIdleness())
			.anyMatch((each) -> each.from() <= from && each.to() >= to);
	}

	private long allowed(long from, long to) {
		boolean leaderChanged = this.store == StoreKind.ETCD && this.history.faults()
			.stream()
			.filter((each) -> each.kind().hitsMembers())
			.anyMatch((each) -> each.from() < to && each.to() > from - LEADER_CHANGE);
		long pauses = this.history.events("PAUSE")
			.stream()
			.filter((pause) -> pause.at() < to && pause.at() + length(pause) > from && !isFault(pause))
			.mapToLong(Timeline::length)
			.sum();
		long late = (this.store == StoreKind.ETCD) ? ETCD_EXPIRY : 0;
		return GAP + pauses + late + (leaderChanged ? LEADER_CHANGE : 0);
	}

	/** A pause that a schedule made is no excuse for the others. */
	private boolean isFault(Event pause) {
		return this.history.faults()
			.stream()
			.anyMatch((each) -> each.kind().place == FaultKind.Place.SERVER && each.server().equals(pause.server())
					&& each.from() < pause.at() + length(pause) && each.to() >= pause.at());
	}

	/** Of a job that stops when it is told to. */
	long longestOverlap(String job) {
		long longest = 0;
		for (Event step : this.history.events("STEP")) {
			long begun = this.history.entries(job)
				.stream()
				.filter((entry) -> entry.kind().equals("BEGIN") && entry.token() > step.token())
				.mapToLong(Entry::at)
				.min()
				.orElse(Long.MAX_VALUE);
			if (step.job().equals(job) && begun < step.at()) {
				long overlap = step.at() - begun - paused(step.server(), begun, step.at());
				longest = Math.max(longest, overlap);
				if (overlap > OVERLAP) {
					this.findings.add("two bodies overlapped for " + overlap + " ms: " + step);
				}
			}
		}
		return longest;
	}

	private long paused(String server, long from, long to) {
		return this.history.events("PAUSE")
			.stream()
			.filter((pause) -> pause.server().equals(server))
			.mapToLong((pause) -> Math.max(0, Math.min(to, pause.at() + length(pause)) - Math.max(from, pause.at())))
			.sum();
	}

	private static long length(Event pause) {
		return Long.parseLong(pause.detail());
	}

}
