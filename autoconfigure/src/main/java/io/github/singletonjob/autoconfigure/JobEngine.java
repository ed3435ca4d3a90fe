package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.github.singletonjob.JobBody;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.runtime.DaemonThreads;
import io.github.singletonjob.runtime.HeldLease;
import io.github.singletonjob.runtime.LeaseKeeper;
import io.github.singletonjob.runtime.RunRequest;
import io.github.singletonjob.runtime.Scheduling;
import io.github.singletonjob.runtime.SingletonJobRunner;
import io.github.singletonjob.runtime.StageBody;
import io.github.singletonjob.runtime.StandBy;
import io.github.singletonjob.runtime.StandByJob;

import io.github.singletonjob.runtime.SystemClock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanClassLoaderAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/**
 * The runtime of this application, and its life: at a stop, before the scheduler and the
 * clients are stopped, it cancels the runs, or lets them finish, and waits for them.
 * Renewal is the last to end. If a body does not end in time, its lease is kept until the
 * process is gone.
 */
class JobEngine implements SmartLifecycle, DisposableBean, BeanClassLoaderAware {

	private static final Log logger = LogFactory.getLog(JobEngine.class);

	private static final Duration LONGEST_STOP = Duration.ofHours(1);

	private final DaemonThreads threads = new DaemonThreads();

	private final LeaseStore store;

	private final LeaseKeeper keeper;

	private final SingletonJobRunner runner;

	private final StandBy standBy;

	private final Supplier<List<StandByJob>> candidates;

	private final Duration shutdownTimeout;

	private volatile boolean running;

	/**
	 * Creates an engine that is not running.
	 * @param store where leases are
	 * @param fence the guarded database's, or null
	 * @param companions what listens to runs and surrounds them
	 * @param holder names this instance, for people
	 * @param shutdownTimeout how long a stop of the application waits for its runs
	 * @param candidates the jobs to stand by for, asked at each start
	 */
	JobEngine(LeaseStore store, @Nullable Fence fence, RunCompanions companions, String holder,
			Duration shutdownTimeout, Supplier<List<StandByJob>> candidates) {
		this.store = store;
		this.candidates = candidates;
		this.shutdownTimeout = shutdownTimeout;
		Scheduling scheduling = new Scheduling(new SystemClock(), this.threads, this.threads, new SplittableRandom());
		this.keeper = new LeaseKeeper(store, scheduling, companions.listener());
		this.runner = new SingletonJobRunner(store, fence, this.keeper, holder, companions.scopes());
		this.standBy = new StandBy(store, fence, scheduling);
	}

	@Override
	public void setBeanClassLoader(ClassLoader classLoader) {
		this.threads.useContextClassLoader(classLoader);
	}

	StandBy standBy() {
		return this.standBy;
	}

	LeaseStore store() {
		return this.store;
	}

	/** The leases that this instance holds now. */
	List<HeldLease> held() {
		return this.keeper.held();
	}

	RunResult run(RunRequest request, JobBody body) {
		OpenTransactionCheck.refuseOpenTransaction(request.job().name());
		return this.runner.run(request, body);
	}

	CompletionStage<RunResult> start(RunRequest request, StageBody body) {
		OpenTransactionCheck.refuseOpenTransaction(request.job().name());
		return this.runner.start(request, body);
	}

	@Override
	public void start() {
		this.runner.resume();
		this.running = true;
		this.candidates.get().forEach(this.standBy::add);
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return Integer.MAX_VALUE;
	}

	@Override
	public void stop() {
		this.running = false;
		this.standBy.close();
		this.runner.cancelAll();
	}

	@Override
	public void stop(Runnable callback) {
		this.running = false;
		this.standBy.close();
		this.runner.stop(this.shutdownTimeout);
		this.threads.execute(() -> {
			awaitIdle(LONGEST_STOP);
			callback.run();
		});
	}

	@Override
	public void destroy() {
		this.standBy.close();
		this.runner.cancelAll();
		if (awaitIdle(Duration.ZERO)) {
			close();
			return;
		}
		logger.warn("A run has not ended although it was cancelled. Its lease is kept until it ends, or this process");
		this.threads.execute(() -> {
			if (awaitIdle(LONGEST_STOP)) {
				close();
			}
		});
	}

	private boolean awaitIdle(Duration timeout) {
		try {
			return this.runner.awaitIdle(timeout);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	private void close() {
		this.threads.close();
		if (this.store instanceof AutoCloseable closeable) {
			try {
				closeable.close();
			}
			catch (Exception ex) {
				logger.warn("The lease store could not be closed: " + ex.getMessage(), ex);
			}
		}
	}

}
