package io.github.singletonjob.scope;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.RunScope;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectFactory;
import org.springframework.beans.factory.config.Scope;

/**
 * The scope {@code job-run}. A bean belongs to the run of the thread that uses it; with
 * nested jobs, to the innermost.
 */
public final class JobRunBeans implements Scope, RunScope {

	/** What Spring puts before the name of a bean that has a proxy. */
	private static final String PROXIED = "scopedTarget.";

	private final Map<JobRun, RunBeans> runs = new ConcurrentHashMap<>();

	@Override
	public Opened open(LeasedRun run) {
		RunBeans beans = new RunBeans(run);
		this.runs.put(run, beans);
		return new Opened() {

			@Override
			public void close() {
			}

			@Override
			public void end() {
				try {
					beans.end();
				}
				finally {
					JobRunBeans.this.runs.remove(run, beans);
				}
			}

		};
	}

	@Override
	public Object get(String name, ObjectFactory<?> objectFactory) {
		return current(name).get(name, objectFactory);
	}

	@Override
	public @Nullable Object remove(String name) {
		return current(name).remove(name);
	}

	@Override
	public void registerDestructionCallback(String name, Runnable callback) {
		current(name).onEnd(callback);
	}

	@Override
	public @Nullable Object resolveContextualObject(String key) {
		return "run".equals(key) ? CurrentJobRun.find().orElse(null) : null;
	}

	@Override
	public @Nullable String getConversationId() {
		return CurrentJobRun.find().map((run) -> run.job() + "-" + run.token()).orElse(null);
	}

	private RunBeans current(String name) {
		JobRun run = CurrentJobRun.find()
			.orElseThrow(() -> new IllegalStateException("The bean '" + plain(name)
					+ "' lives for one run of a job, and" + " there is no run on thread '"
					+ Thread.currentThread().getName() + "'. Use it inside a"
					+ " @SingletonJob method or SingletonJobs.run(…), or on a thread that the run was propagated to"));
		RunBeans beans = this.runs.get(run);
		if (beans == null) {
			throw over(name, run);
		}
		return beans;
	}

	static IllegalStateException over(String name, JobRun run) {
		return new IllegalStateException("The bean '" + plain(name) + "' lives for one run of a job, and the run of '"
				+ run.job() + "' with token " + run.token()
				+ " has ended. A task that is to use it must end before the job" + " does: wait for it");
	}

	private static String plain(String name) {
		return name.startsWith(PROXIED) ? name.substring(PROXIED.length()) : name;
	}

}
