package io.github.singletonjob.chaos;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What the servers have left behind, from shortly before a run to its end.
 *
 * @param entries what was committed under a lease, in order
 * @param notes what was noted outside of the fence, by time
 * @param firstId the first entry that belongs to the run
 * @param settled when all was well again; what began later may still be at work
 * @param doubleKeys for how many charges the card network was asked with two keys
 */
record History(List<Entry> entries, List<Note> notes, long firstId, long settled, long doubleKeys) {

	/** Whether it belongs to the run, and not to the one before. */
	boolean isOfRun(Entry entry) {
		return entry.id() >= this.firstId;
	}

	List<Entry> of(String job) {
		return this.entries.stream().filter((entry) -> entry.job().equals(job)).toList();
	}

	List<Note> notes(String kind) {
		return this.notes.stream().filter((note) -> note.kind().equals(kind)).toList();
	}

	/**
	 * A committed write. Its number is drawn in its transaction: while a fence stands, an
	 * older run's is smaller than those of a newer one.
	 *
	 * @param id its number
	 * @param at when it was written, by the clock that all processes share
	 * @param job the job
	 * @param kind BEGIN, CHARGE or END
	 * @param token of the run
	 * @param period what was charged, with the customer
	 * @param customer who was charged
	 * @param fireTime what the run stands for
	 * @param server the process
	 */
	record Entry(long id, long at, String job, String kind, long token, int period, int customer,
			@Nullable String fireTime, String server) {
	}

	/**
	 * A note.
	 *
	 * @param at when
	 * @param server the process
	 * @param job the job
	 * @param kind what happened
	 * @param token of the run
	 * @param detail more
	 */
	record Note(long at, String server, String job, String kind, long token, String detail) {
	}

}
