package io.github.singletonjob.chaos;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What the servers have left behind, from shortly before a run to its end, and what was
 * done to them.
 *
 * @param entries what was committed under a lease, in order
 * @param events what the servers have noted outside of the fence, by time
 * @param faults what was done to them
 * @param firstId the first entry that belongs to the run
 * @param settled when all was well again; what began later may still be at work
 * @param doubleKeys for how many charges the card network was asked with two keys
 * @param reported the last fire time of the report that counts as completed in the
 * guarded database, null if none does or nothing is recorded there
 */
record History(List<Entry> entries, List<Event> events, List<Fault> faults, long firstId, long settled, long doubleKeys,
		@Nullable String reported) {

	/** Whether it belongs to the run, and not to the one before. */
	boolean isOfRun(Entry entry) {
		return entry.id() >= this.firstId;
	}

	List<Entry> entries(String job) {
		return this.entries.stream().filter((entry) -> entry.job().equals(job)).toList();
	}

	List<Event> events(String kind) {
		return this.events.stream().filter((event) -> event.kind().equals(kind)).toList();
	}

	List<Event> events(String kind, String job) {
		return events(kind).stream().filter((event) -> event.job().equals(job)).toList();
	}

	/**
	 * A committed write. Its number is drawn in its transaction: while a fence stands,
	 * those of an older run are smaller than those of a newer one.
	 *
	 * @param id its number
	 * @param at when it was written, by the clock that all processes share
	 * @param job the job
	 * @param kind BEGIN, CHARGE, STEP or END
	 * @param token of the run
	 * @param period what was charged, with the customer
	 * @param customer who was charged, or the number of the step
	 * @param fireTime what the run stands for
	 * @param server the process
	 */
	record Entry(long id, long at, String job, String kind, long token, int period, int customer,
			@Nullable String fireTime, String server) {
	}

	/**
	 * What a server has seen or done.
	 *
	 * @param at when
	 * @param server the process
	 * @param job the job
	 * @param kind GRANTED, LOST, BODY, STEP, REFUSED, FAILED, INTERRUPTED, ENDED or PAUSE
	 * @param token of the run
	 * @param detail more: the fire time of a grant, the length of a pause
	 */
	record Event(long at, String server, String job, String kind, long token, String detail) {
	}

	/**
	 * A fault as it was, in milliseconds since the epoch.
	 *
	 * @param kind what was done
	 * @param server to which process, or {@value #ALL}
	 * @param from from when on
	 * @param to until when
	 */
	record Fault(FaultKind kind, String server, long from, long to) {

		static final String ALL = "all";

		boolean hits(String server) {
			return this.server.equals(server) || this.server.equals(ALL);
		}

		/** Whether it can be the reason for something that a server saw then. */
		boolean explains(String server, long at, long aftermath) {
			return hits(server) && this.kind != FaultKind.CLOCK_STEP && at >= this.from && at <= this.to + aftermath;
		}

	}

}
