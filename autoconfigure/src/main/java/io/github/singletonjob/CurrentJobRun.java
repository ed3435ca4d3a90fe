package io.github.singletonjob;

import java.lang.reflect.Proxy;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Binds a {@link JobRun} to a thread. The thread that executes a job is bound by the
 * library. Executors that propagate Micrometer's context bind the run to their threads by
 * themselves; other code that hands work to another thread opens the run there:
 *
 * <pre>{@code
 * JobRun run = JobRun.current();
 * executor.submit(() -> {
 *   try (var scope = CurrentJobRun.open(run)) {
 *     repository.save(…);
 *   }
 * });
 * }</pre>
 *
 * Transactions of that thread are then fenced by the run, and refused once it has ended.
 */
public final class CurrentJobRun {

	private static final ThreadLocal<@Nullable JobRun> CURRENT = new ThreadLocal<>();

	private CurrentJobRun() {
	}

	/**
	 * The run that is bound to the calling thread.
	 * @return the innermost run, or empty outside of any
	 */
	public static Optional<JobRun> find() {
		return Optional.ofNullable(CURRENT.get());
	}

	/**
	 * Binds a run to the calling thread until the scope is closed on the same thread. A
	 * run that was bound before is bound again afterwards.
	 * @param run the run to bind
	 * @return the scope to close
	 * @throws IllegalArgumentException if it is an injected run, which stands for that of
	 * any thread
	 */
	public static Scope open(JobRun run) {
		if (Proxy.isProxyClass(run.getClass())) {
			throw new IllegalArgumentException("An injected JobRun stands for the run of whatever thread uses it, so it"
					+ " cannot be handed to another thread. Hand over JobRun.current()");
		}
		return replace(run);
	}

	/**
	 * Unbinds what is bound to the calling thread until the scope is closed on the same
	 * thread: what begins in between belongs to no run and is not fenced. This is for
	 * work that must outlive the run, such as a note that it was lost. A transaction that
	 * a run has worked on already stays the run's.
	 * @return the scope to close
	 */
	public static Scope suspend() {
		return replace(null);
	}

	private static Scope replace(@Nullable JobRun run) {
		JobRun previous = CURRENT.get();
		bind(run);
		return () -> bind(previous);
	}

	private static void bind(@Nullable JobRun run) {
		if (run != null) {
			CURRENT.set(run);
		}
		else {
			CURRENT.remove();
		}
	}

	/**
	 * The time for which a run is bound to a thread.
	 */
	@FunctionalInterface
	public interface Scope extends AutoCloseable {

		@Override
		void close();

	}

}
