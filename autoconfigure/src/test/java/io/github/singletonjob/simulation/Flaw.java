package io.github.singletonjob.simulation;

/**
 * Safety rules of a store or a fence that a control breaks, to see that the checks
 * notice.
 */
enum Flaw {

	/** All rules are kept. */
	NONE,

	/** A job's key joins a shared lease whose last renewal is old. */
	SHARED_LEASE_NOT_RENEWED,

	/** A renewal creates a lease that is over. */
	RENEWAL_CREATES,

	/** Renewal and release look at the job, not at the owner. */
	OWNER_NOT_COMPARED,

	/** The fence is raised after the body has read. */
	RAISED_AFTER_FIRST_READ,

	/** Commits are not checked. */
	COMMITS_NOT_CHECKED

}
