package io.github.singletonjob.chaos;

import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a check found in one run, or in several.
 *
 * @param runs how many were checked
 * @param staleCommits writes of an older run that were accepted after a newer one had
 * begun
 * @param doubles charges of a customer who was charged for the period before
 * @param lostFireTimes fire times that were begun and never completed
 * @param halfDone fire times that count as completed and lack some of their work
 * @param repeatedTokens tokens that two runs had
 * @param refused writes that were refused as stale
 * @param lost leases that were lost
 * @param longestGap the longest time without a holder that no fault explains, in
 * milliseconds
 * @param longestOverlap the longest overlap of two bodies of which none was frozen, in
 * milliseconds
 * @param others what else must not be
 */
record Verdict(int runs, int staleCommits, int doubles, List<String> lostFireTimes, List<String> halfDone,
		List<String> repeatedTokens, int refused, int lost, long longestGap, long longestOverlap, List<String> others) {

	static final Verdict NONE = new Verdict(0, 0, 0, List.of(), List.of(), List.of(), 0, 0, 0, 0, List.of());

	/** The columns of {@link #row()}. */
	static final String COLUMNS = "runs | stale commits | doubles | lost fire times | half done | repeated tokens |"
			+ " other violations | refused | leases lost | longest gap | longest overlap";

	Verdict plus(Verdict more) {
		return new Verdict(this.runs + more.runs, this.staleCommits + more.staleCommits, this.doubles + more.doubles,
				join(this.lostFireTimes, more.lostFireTimes), join(this.halfDone, more.halfDone),
				join(this.repeatedTokens, more.repeatedTokens), this.refused + more.refused, this.lost + more.lost,
				Math.max(this.longestGap, more.longestGap), Math.max(this.longestOverlap, more.longestOverlap),
				join(this.others, more.others));
	}

	private static List<String> join(List<String> some, List<String> more) {
		return Stream.of(some, more).flatMap(Collection::stream).toList();
	}

	/** How much in the database, or in the record of what has run, is wrong. */
	int damage() {
		return this.staleCommits + this.doubles + this.lostFireTimes.size() + this.halfDone.size()
				+ this.repeatedTokens.size();
	}

	int violations() {
		return damage() + this.others.size();
	}

	String row() {
		return "%d | %d | %d | %d | %d | %d | %d | %d | %d | %d ms | %d ms".formatted(this.runs, this.staleCommits,
				this.doubles, this.lostFireTimes.size(), this.halfDone.size(), this.repeatedTokens.size(),
				this.others.size(), this.refused, this.lost, this.longestGap, this.longestOverlap);
	}

	@Override
	public String toString() {
		return ("stale commits %d, doubles %d, lost fire times %s, half done %s, repeated tokens %s, refused %d,"
				+ " leases lost %d, gap %d ms, overlap %d ms%s")
			.formatted(this.staleCommits, this.doubles, this.lostFireTimes, this.halfDone, this.repeatedTokens,
					this.refused, this.lost, this.longestGap, this.longestOverlap,
					this.others.isEmpty() ? "" : "\n    " + String.join("\n    ", this.others));
	}

}
