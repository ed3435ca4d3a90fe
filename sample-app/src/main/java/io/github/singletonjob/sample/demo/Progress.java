package io.github.singletonjob.sample.demo;

/**
 * How far the billing is, by the newest charge in the books.
 *
 * @param period the period that is billed
 * @param token the token of the run that made the charge
 * @param holder the server
 * @param charged how many customers were charged for the period, by whichever run
 * @param customers how many customers have to pay for it
 */
record Progress(long period, long token, String holder, long charged, long customers) {

	boolean isComplete() {
		return this.charged >= this.customers;
	}

}
