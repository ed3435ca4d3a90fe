package io.github.singletonjob;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * One execution of a job under one grant of its lease. Read it as an injected bean, which
 * resolves to the run of the calling thread, or by {@link #current()}.
 * <p>
 * The token is fixed when the lease is granted, so a run that has been overtaken never
 * reads the token of its successor. All methods may be called from any thread and do no
 * I/O.
 */
public interface JobRun {

	/**
	 * The run of the calling thread; with nested jobs, the innermost.
	 * @return the current run
	 * @throws IllegalStateException if the calling thread is not inside a run
	 */
	static JobRun current() {
		return CurrentJobRun.find()
			.orElseThrow(() -> new IllegalStateException("No job run on thread '" + Thread.currentThread().getName()
					+ "'. A run exists inside a @SingletonJob method and inside SingletonJobs.run(…), on the thread that"
					+ " executes it. Another thread sees it where the executor propagates the context"
					+ " (spring.task.execution.propagate-context=true, or a ContextPropagatingTaskDecorator), or where"
					+ " it is opened: try (var scope = CurrentJobRun.open(run)) { … }. The common pool and parallel"
					+ " streams propagate nothing"));
	}

	/**
	 * The job's name, without the namespace.
	 * @return the name
	 */
	String job();

	/**
	 * The fencing token of this run's grant: greater than that of every earlier grant of
	 * the same job; of a store that has lost what it knew, greater than what the guarded
	 * database has seen. Still answers after the lease was lost.
	 * @return a positive number
	 */
	long token();

	/**
	 * The application instance that executes this run.
	 * @return a name for people, such as {@code billing-1:4711}
	 */
	String holder();

	/**
	 * The nominal instant of the schedule for which this run was started, equal on all
	 * instances. Only runs that Spring's scheduler has started for a cron expression, and
	 * those that take over from one, have it.
	 * @return the fire time, or empty for every other run
	 */
	Optional<Instant> fireTime();

	/**
	 * Whether another run has started this run's fire time and did not complete it: some
	 * of the work may be done already.
	 * @return false for a run without a fire time
	 */
	boolean isTakeover();

	/**
	 * How long the lease can still be relied on if no further renewal succeeds, on the
	 * monotonic clock of this machine.
	 * @return the time left, {@link Duration#ZERO} when the lease is not held
	 */
	Duration remaining();

	/**
	 * Whether this run may go on. False from the moment that the lease is lost, past its
	 * deadline, not confirmed after the machine was suspended, or the run was cancelled
	 * or has ended. A run that was cancelled is to stop soon, and can commit what it has
	 * begun as long as its lease is held. True is a hint and no proof: the process can be
	 * paused right after the answer. Only the fence decides what is written.
	 * @return whether the lease is held as far as this instance knows
	 */
	boolean isHeld();

	/**
	 * Does nothing while {@link #isHeld()}.
	 * @throws LeaseLostException if the lease is not held any more, or the run was
	 * cancelled; it says why
	 */
	void ensureHeld();

	/**
	 * A key for an effect that no database can fence, such as a payment or a mail: the
	 * receiver that remembers it executes the effect once. It is derived from the job and
	 * the work alone, and so equal for every retry and every holder.
	 * @param work what identifies the effect: texts, whole numbers, {@code BigDecimal}
	 * (no {@code double} or {@code float}), enums, UUIDs, booleans, dates and times of
	 * {@code java.time}
	 * @return the key
	 * @throws IllegalArgumentException if {@code work} is empty or contains null or a
	 * value without a stable text
	 */
	IdempotencyKey idempotencyKey(Object... work);

}
