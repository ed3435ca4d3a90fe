package io.github.singletonjob.lease;

/**
 * A store's answer for one lease that was to be renewed.
 */
public enum Renewal {

	/** The lease lasts for its time to live from the moment that the renewal was sent. */
	EXTENDED,

	/** The lease is definitely over. It is never created anew by a renewal. */
	GONE,

	/** Not known, for example because of a time-out: it is asked again. */
	UNKNOWN

}
