package io.github.singletonjob.chaos;

/**
 * Verdicts, added up.
 */
final class Tally {

	static final String COLUMNS = "runs | stale commits | doubles | lost fire times | other violations | refused |"
			+ " leases lost | longest gap | longest overlap";

	private int runs;

	private int staleCommits;

	private int doubles;

	private int lostFireTimes;

	private int others;

	private int refused;

	private int lost;

	private long gap;

	private long overlap;

	void add(Verdict verdict) {
		this.runs++;
		this.staleCommits += verdict.staleCommits();
		this.doubles += verdict.doubles();
		this.lostFireTimes += verdict.lostFireTimes();
		this.others += verdict.others().size();
		this.refused += verdict.refused();
		this.lost += verdict.lost();
		this.gap = Math.max(this.gap, verdict.longestGap());
		this.overlap = Math.max(this.overlap, verdict.longestOverlap());
	}

	int damage() {
		return this.staleCommits + this.doubles + this.lostFireTimes;
	}

	int violations() {
		return damage() + this.others;
	}

	@Override
	public String toString() {
		return "%d | %d | %d | %d | %d | %d | %d | %d ms | %d ms".formatted(this.runs, this.staleCommits, this.doubles,
				this.lostFireTimes, this.others, this.refused, this.lost, this.gap, this.overlap);
	}

}
