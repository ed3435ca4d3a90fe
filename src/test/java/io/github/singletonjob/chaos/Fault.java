package io.github.singletonjob.chaos;

/**
 * One step of a schedule.
 *
 * @param kind what is done
 * @param start when, in milliseconds from the beginning of the run
 * @param length for how long, in milliseconds
 * @param onHolder whether it hits the server that holds the billing job at that time, or
 * another one; of no meaning for what is done to the store
 * @param amount milliseconds of delay, or by how many the clock is stepped
 */
record Fault(FaultKind kind, int start, int length, boolean onHolder, int amount) {

	int end() {
		return this.start + this.length;
	}

	@Override
	public String toString() {
		String target = (this.kind.place == FaultKind.Place.STORE) ? ""
				: this.onHolder ? " of the holder" : " of another";
		String by = (this.amount == 0) ? "" : " by " + this.amount + " ms";
		return "%s%s%s at %d ms for %d ms".formatted(this.kind, target, by, this.start, this.length);
	}

}
