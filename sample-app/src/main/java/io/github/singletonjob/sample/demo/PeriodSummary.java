package io.github.singletonjob.sample.demo;

/**
 * What the company's books say about a period.
 *
 * @param period the period
 * @param closed whether all of it should be there
 * @param customers how many customers have to pay
 * @param once how many were charged once
 * @param repeatedly how many were charged more often
 */
record PeriodSummary(long period, boolean closed, long customers, long once, long repeatedly) {

	/**
	 * The check, as a sentence.
	 * @return the sentence
	 */
	String describe() {
		long never = this.customers - this.once - this.repeatedly;
		return "period %d: %d customers, %d charged once, %d twice%s".formatted(this.period, this.customers, this.once,
				this.repeatedly, (never > 0) ? ", " + never + " not at all" : "");
	}

}
