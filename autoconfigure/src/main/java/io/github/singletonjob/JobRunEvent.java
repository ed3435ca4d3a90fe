package io.github.singletonjob;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * What becomes of runs and of attempts to run a job, published as application events.
 * Listen to all of them, or to one of the nested types. A run that is cancelled because
 * the application stops ends without an event.
 */
public sealed interface JobRunEvent {

	/**
	 * The job.
	 * @return its name
	 */
	String job();

	/**
	 * An attempt has found nothing to do: another holder has the lease, or the fire time
	 * was completed before. Each instance publishes it for each of its firings that
	 * another one serves, so it is frequent. Delivered on the thread of the attempt.
	 *
	 * @param job the job's name
	 * @param outcome why the body was not run: {@link RunOutcome#SKIPPED_HELD} or
	 * {@link RunOutcome#SKIPPED_ALREADY_RAN}
	 */
	record Skipped(String job, RunOutcome outcome) implements JobRunEvent {
	}

	/**
	 * A run has its lease, the fence stands at its token, and its body is about to begin.
	 * Delivered on the thread of the job: a listener that blocks delays the body.
	 *
	 * @param job the job's name
	 * @param token the token of the run
	 * @param holder the instance that executes the run
	 * @param fireTime the fire time of the run, or null if it has none
	 * @param takeover whether another run has started the fire time and not completed it,
	 * so that some of the work may be done already
	 */
	record Granted(String job, long token, String holder, @Nullable Instant fireTime,
			boolean takeover) implements JobRunEvent {
	}

	/**
	 * A run has lost its lease, or was refused by the database, before its body ended, or
	 * this was noticed only when the lease was given back. Published once, on a thread of
	 * the library, shortly after the body was told.
	 *
	 * @param job the job's name
	 * @param token the token of the run
	 * @param holder the instance that executed the run
	 * @param reason what happened, for people
	 */
	record Lost(String job, long token, String holder, String reason) implements JobRunEvent {
	}

	/**
	 * The body of a run has returned normally while the lease was held. The outcome is
	 * recorded, and the lease was given back, unless the job has a {@code minHold} or the
	 * store did not answer, which is then told again. Delivered on the thread of the job,
	 * or on one of the library if the job returns a stage.
	 *
	 * @param job the job's name
	 * @param token the token of the run
	 * @param holder the instance that executed the run
	 * @param fireTime the fire time of the run, or null if it has none
	 */
	record Completed(String job, long token, String holder, @Nullable Instant fireTime) implements JobRunEvent {
	}

	/**
	 * The body of a run has thrown although its lease was held, or has ended after its
	 * {@code maxRun}. The fire time counts as completed and is not repeated. Delivered on
	 * the thread of the job, or on one of the library if the job returns a stage.
	 *
	 * @param job the job's name
	 * @param token the token of the run
	 * @param holder the instance that executed the run
	 * @param fireTime the fire time of the run, or null if it has none
	 * @param failure what the body threw, or what ended it
	 */
	record Failed(String job, long token, String holder, @Nullable Instant fireTime,
			@Nullable Throwable failure) implements JobRunEvent {
	}

}
