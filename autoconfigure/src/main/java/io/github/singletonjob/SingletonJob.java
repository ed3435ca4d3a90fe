package io.github.singletonjob;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method that at most one holder runs at a time, whichever instance of the
 * application calls it. The call takes the job's lease, renews it in the background while
 * the body runs, fences the body's transactions with the token of the grant, and gives
 * the lease back after the last transaction has committed. A call that finds the job held
 * elsewhere returns without running the body.
 * <p>
 * The method must be reachable by a proxy (not {@code final}, {@code private} or
 * {@code static}) and return {@code void}, {@link java.util.Optional}, which is empty
 * when the run was skipped, or {@link java.util.concurrent.CompletionStage}, which is
 * completed with null then. Anything else fails the start of the application.
 * <p>
 * All texts may contain <code>${…}</code> placeholders. Settings under
 * {@code singleton-job.jobs.<name>} beat these attributes, and these beat
 * {@code singleton-job.lease}. Usable as a meta-annotation.
 *
 * @see JobRun#current()
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface SingletonJob {

	/**
	 * The job's name, unique within the namespace. Instances that use the same name in
	 * the same namespace share the job.
	 * @return a name of 1 to 300 characters
	 */
	String value();

	/**
	 * How long a silent holder keeps the job, as a duration such as {@code 30s} or
	 * {@code PT30S}; at least two seconds.
	 * @return the time to live, or empty for the default
	 */
	String ttl() default "";

	/**
	 * How long the job stays held at least, from the grant on, also if its body ends
	 * sooner, as a duration. Spaces runs that have no fire time; ends with the instance.
	 * @return the time, or empty for none
	 */
	String minHold() default "";

	/**
	 * How long a run may last before it is cancelled, as a duration.
	 * @return the limit, or empty for none
	 */
	String maxRun() default "";

	/**
	 * What happens to the thread of the body when the lease is lost or the run is
	 * cancelled.
	 * @return how the body is told
	 */
	OnLost onLost() default OnLost.INTERRUPT;

	/**
	 * What becomes of a run when the application stops.
	 * @return whether it is told to stop at once or may finish
	 */
	OnShutdown onShutdown() default OnShutdown.DEFAULT;

	/**
	 * What becomes of a fire time of a cron schedule whose run was cut short: its holder
	 * died, lost the lease or was stopped.
	 * @return who finishes it
	 */
	Takeover takeover() default Takeover.AUTOMATIC;

	/**
	 * Whether a run waits for a holder before it that has not given its lease back.
	 * @return how a lease changes hands
	 */
	Handover handover() default Handover.FAST;

	/**
	 * Marks a job that has no schedule and is to run all the time, on exactly one
	 * instance: it is started with the application, started again when it returns or
	 * throws, and started elsewhere when its instance dies or loses the lease. The method
	 * takes no arguments.
	 * @return whether it runs all the time
	 */
	boolean continuous() default false;

}
