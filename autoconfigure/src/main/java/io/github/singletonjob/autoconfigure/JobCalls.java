package io.github.singletonjob.autoconfigure;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.runtime.RunRequest;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Calls of annotated methods: each finds out for which firing it is made, and becomes one
 * run; or two, if an earlier fire time is open, which is finished first. Whatever stays
 * open, this instance stands by for.
 */
class JobCalls {

	private static final Log logger = LogFactory.getLog(JobCalls.class);

	private final JobEngine engine;

	private final Firings firings;

	JobCalls(JobEngine engine, Firings firings) {
		this.engine = engine;
		this.firings = firings;
	}

	/**
	 * Runs a job on the calling thread.
	 * @return what the body returned, null if it was not run
	 */
	@Nullable Object run(JobDefinition job, Class<?> targetClass, Callable<?> body) throws Throwable {
		RequestedRun requested = RequestedRun.take(job.id());
		RunRequest request = request(job, targetClass, requested);
		@Nullable Object[] value = new Object[1];
		RunResult result = run(request, value, body, requested == null);
		Throwable failure = result.failure();
		if (hasFinishedAnEarlierOne(result, request.firing())) {
			RunResult own = run(request, value, body, true);
			failure = firstOf(failure, own.failure());
		}
		if (requested != null) {
			requested.ended(result);
		}
		if (failure != null) {
			throw failure;
		}
		return value[0];
	}

	private RunResult run(RunRequest request, @Nullable Object[] value, Callable<?> body, boolean standBy) {
		RunResult result = null;
		try {
			result = this.engine.run(request, (run) -> value[0] = body.call());
			return result;
		}
		finally {
			if (standBy) {
				standByUnlessDone(request, result);
			}
		}
	}

	/**
	 * Starts a job whose work goes on after the call has returned.
	 * @return completed with what the stage of the body was completed with, after the
	 * lease was given back; with null if it was not run
	 */
	CompletableFuture<@Nullable Object> start(JobDefinition job, Class<?> targetClass,
			Callable<? extends @Nullable CompletionStage<?>> body) {
		RequestedRun requested = RequestedRun.take(job.id());
		RunRequest request = request(job, targetClass, requested);
		AtomicReference<@Nullable CompletionStage<?>> work = new AtomicReference<>();
		CompletionStage<RunResult> ended = start(request, work, body).thenCompose((first) -> {
			if (!hasFinishedAnEarlierOne(first, request.firing())) {
				return CompletableFuture.completedFuture(first);
			}
			if (first.failure() != null) {
				logger.error(request.job().name() + ": the run for " + first.fireTime() + " failed", first.failure());
			}
			return start(request, work, body);
		});
		return ended.<@Nullable Object>thenApply((result) -> {
			if (requested != null) {
				requested.ended(result);
			}
			return valueOf(result, work.get());
		}).toCompletableFuture();
	}

	private static @Nullable Object valueOf(RunResult result, @Nullable CompletionStage<?> work) {
		if (result.failure() != null) {
			throw new CompletionException(result.failure());
		}
		return (work != null) ? work.toCompletableFuture().join() : null;
	}

	private CompletionStage<RunResult> start(RunRequest request, AtomicReference<@Nullable CompletionStage<?>> work,
			Callable<? extends @Nullable CompletionStage<?>> body) {
		boolean started = false;
		try {
			CompletionStage<RunResult> ended = this.engine.start(request, (run) -> {
				CompletionStage<?> stage = body.call();
				work.set(stage);
				return stage;
			});
			started = true;
			return ended.whenComplete((result, failure) -> standByUnlessDone(request, result));
		}
		finally {
			if (!started) {
				standByUnlessDone(request, null);
			}
		}
	}

	private RunRequest request(JobDefinition job, Class<?> targetClass, @Nullable RequestedRun requested) {
		Firing firing = (requested != null) ? requested.firing() : this.firings.current(job, targetClass);
		return new RunRequest(job.id(), job.settings(), firing);
	}

	private static boolean hasFinishedAnEarlierOne(RunResult result, @Nullable Firing firing) {
		boolean ran = result.outcome() == RunOutcome.COMPLETED || result.outcome() == RunOutcome.FAILED;
		Instant due = (firing != null) ? firing.fireTime() : null;
		return ran && due != null && result.fireTime() != null && result.fireTime().isBefore(due);
	}

	private static @Nullable Throwable firstOf(@Nullable Throwable first, @Nullable Throwable second) {
		if (first != null && second != null && first != second) {
			first.addSuppressed(second);
		}
		return (first != null) ? first : second;
	}

	private void standByUnlessDone(RunRequest request, @Nullable RunResult result) {
		boolean done = result != null && switch (result.outcome()) {
			case COMPLETED, FAILED, SKIPPED_ALREADY_RAN -> true;
			case SKIPPED_HELD, LOST, CANCELLED -> false;
		};
		Firing firing = request.firing();
		if (!done && firing != null && firing.fireTime() != null) {
			this.engine.standBy().look(request.job(), firing);
		}
	}

	/**
	 * Carries what a stand-by asks for through the proxy of a job to the interceptor, on
	 * one thread, and the result back; that of a stage from another thread, before the
	 * stage that the stand-by waits for is completed.
	 */
	static final class RequestedRun implements AutoCloseable {

		private static final ThreadLocal<Deque<RequestedRun>> REQUESTED = ThreadLocal.withInitial(ArrayDeque::new);

		private final JobId job;

		private final @Nullable Firing firing;

		private boolean taken;

		private @Nullable RunResult result;

		private RequestedRun(JobId job, @Nullable Firing firing) {
			this.job = job;
			this.firing = firing;
		}

		/** Asks for a run of a job by the next call of it on this thread. */
		static RequestedRun open(JobId job, @Nullable Firing firing) {
			RequestedRun requested = new RequestedRun(job, firing);
			REQUESTED.get().push(requested);
			return requested;
		}

		/** What was asked for, once; null if nothing was asked for on this thread. */
		static @Nullable RequestedRun take(JobId job) {
			RequestedRun requested = REQUESTED.get().peek();
			if (requested == null || requested.taken || !requested.job.equals(job)) {
				return null;
			}
			requested.taken = true;
			return requested;
		}

		@Nullable Firing firing() {
			return this.firing;
		}

		void ended(RunResult ended) {
			this.result = ended;
		}

		@Nullable RunResult result() {
			return this.result;
		}

		@Override
		public void close() {
			Deque<RequestedRun> requested = REQUESTED.get();
			requested.remove(this);
			if (requested.isEmpty()) {
				REQUESTED.remove();
			}
		}

	}

}
