package io.github.singletonjob.rows;

/**
 * An entity on the table {@code invoice}.
 */
interface Billable {

	void setStatus(String status);

}
