package io.github.singletonjob.chaos;

import java.util.List;

/**
 * What a check found.
 *
 * @param staleCommits writes of an older run that were accepted after a newer one had
 * begun
 * @param doubles charges of a customer who was charged for the period before
 * @param lostFireTimes fire times that were begun and never completed
 * @param refused writes that were refused as stale
 * @param lost leases that were lost
 * @param longestGap the longest time without a holder that no fault explains, in
 * milliseconds
 * @param longestOverlap the longest overlap of two bodies of which none was frozen, in
 * milliseconds
 * @param others what else must not be
 */
record Verdict(int staleCommits, int doubles, int lostFireTimes, int refused, int lost, long longestGap,
		long longestOverlap, List<String> others) {

	boolean isDamage() {
		return this.staleCommits > 0 || this.doubles > 0 || this.lostFireTimes > 0;
	}

	boolean isViolation() {
		return isDamage() || !this.others.isEmpty();
	}

	@Override
	public String toString() {
		return "stale commits %d, doubles %d, lost fire times %d, refused %d, leases lost %d, gap %d ms, overlap %d ms%s"
			.formatted(this.staleCommits, this.doubles, this.lostFireTimes, this.refused, this.lost, this.longestGap,
					this.longestOverlap, this.others.isEmpty() ? "" : "\n    " + String.join("\n    ", this.others));
	}

}
