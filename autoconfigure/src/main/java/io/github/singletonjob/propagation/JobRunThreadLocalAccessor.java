package io.github.singletonjob.propagation;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Takes the run of a thread along wherever Micrometer's context is propagated. Found by
 * {@link java.util.ServiceLoader}; nobody has to register it.
 * <p>
 * The run itself is handed on, not a copy: when it is lost or has ended, it is so for all
 * threads, and what they commit from then on is refused.
 */
public final class JobRunThreadLocalAccessor implements ThreadLocalAccessor<JobRun> {

	/**
	 * The key of the run in a context.
	 */
	public static final String KEY = "io.github.singletonjob.run";

	@Override
	public Object key() {
		return KEY;
	}

	@Override
	public @Nullable JobRun getValue() {
		return CurrentJobRun.find().orElse(null);
	}

	// The context restores what was bound before by itself, so the scopes are not closed

	@Override
	public void setValue(JobRun run) {
		CurrentJobRun.open(run);
	}

	@Override
	public void setValue() {
		CurrentJobRun.suspend();
	}

}
