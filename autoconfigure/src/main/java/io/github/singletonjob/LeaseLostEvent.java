package io.github.singletonjob;

/**
 * Published once, as an application event, when a run loses its lease or is refused by
 * the database before its body has ended, or when this is noticed only as the lease is
 * given back. Delivered on a thread of the library, shortly after the body was told.
 *
 * @param job the job's name
 * @param token the token of the run
 * @param holder the instance that executed the run
 * @param reason what happened, for people
 */
public record LeaseLostEvent(String job, long token, String holder, String reason) {
}
