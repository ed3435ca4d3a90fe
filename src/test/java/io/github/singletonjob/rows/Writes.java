package io.github.singletonjob.rows;

/**
 * The ways in which a run writes rows. Each call is one transaction; what it writes has
 * the status {@code STALE}, because the run that does it is.
 */
interface Writes {

	/** Reads a row and updates it, and lets something happen in between. */
	void update(long id, Runnable betweenReadAndWrite);

	void updateAll();

	void delete(long id);

	void insert(long id);

}
