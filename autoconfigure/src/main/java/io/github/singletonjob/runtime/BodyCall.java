package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.Handover;
import io.github.singletonjob.JobBody;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.StaleTokenException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One call of a body, with the run bound to its thread.
 */
final class BodyCall {

	private static final Log logger = LogFactory.getLog(BodyCall.class);

	private static final int DEEPEST_CAUSE = 50;

	private final ActiveRun run;

	private final LeaseKeeper keeper;

	private final RunCloser closer;

	private final RunScopes scopes;

	// Ended by the thread on which the work of the run ends
	private volatile RunScopes.@Nullable Opened opened;

	private Runnable unlimit = () -> {
	};

	BodyCall(ActiveRun run, LeaseKeeper keeper, RunCloser closer, RunScopes scopes) {
		this.run = run;
		this.keeper = keeper;
		this.closer = closer;
		this.scopes = scopes;
	}

	ActiveRun run() {
		return this.run;
	}

	/**
	 * Executes the body on the calling thread.
	 * @return what was thrown, or null
	 */
	@Nullable Throwable execute(JobBody body) {
		try {
			Duration maxRun = this.run.settings().length().maxRun();
			if (maxRun != null) {
				this.unlimit = this.closer.limit(this.run, maxRun);
			}
			executeBound(body);
			return null;
		}
		catch (Throwable ex) {
			RuntimeException ownLoss = (this.run.life().firstEnd() == null) ? ownLoss(ex) : null;
			if (ownLoss != null) {
				// Also if only the clocks disagreed: the body was cut short
				this.run.life()
					.end(new RunEnd(RunOutcome.LOST, "its body has stopped, because " + this.run.reason(ownLoss)));
			}
			return ex;
		}
	}

	private @Nullable RuntimeException ownLoss(Throwable thrown) {
		Throwable cause = thrown;
		for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++) {
			if (cause instanceof LeaseLostException lost && isOwn(lost.getJob(), lost.getToken())) {
				return lost;
			}
			if (cause instanceof StaleTokenException stale && isOwn(stale.getJob(), stale.getToken())) {
				return stale;
			}
			cause = cause.getCause();
		}
		return null;
	}

	private boolean isOwn(String job, long token) {
		return this.run.job().equals(job) && this.run.token() == token;
	}

	/** Ends what the body had, and takes the limit of the run back. */
	void workHasEnded() {
		RunScopes.Opened ending = this.opened;
		if (ending != null) {
			ending.end();
		}
		this.unlimit.run();
	}

	/**
	 * Lets no interrupt of the run through to the calling thread any more; the body goes
	 * on elsewhere.
	 * @param thrown by the body, or null
	 */
	void leaveThread(@Nullable Throwable thrown) {
		boolean interruptedByUs = this.run.life().leaveThread();
		boolean unused = interruptedByUs && Thread.interrupted();
		if (interruptedByUs ? EnclosingRuns.isAnyInterrupted(this.run) : thrown instanceof InterruptedException) {
			Thread.currentThread().interrupt();
		}
	}

	private void executeBound(JobBody body) throws Exception {
		if (logger.isDebugEnabled()) {
			logger.debug(this.run.job() + ": begins with token " + this.run.token()
					+ this.run.fireTime().map((time) -> ", fire time " + time).orElse(""));
		}
		if (this.run.isTakeover()) {
			logger.info(this.run.job() + ": takes over the fire time " + this.run.fireTime().orElseThrow()
					+ ", which another run has left open, with token " + this.run.token());
		}
		this.run.life().beginBody();
		try (CurrentJobRun.Scope scope = CurrentJobRun.open(this.run)) {
			waitForEarlierHolder();
			this.run.ensureHeld();
			try (RunScopes.Opened scopesOfRun = this.scopes.open(this.run)) {
				this.opened = scopesOfRun;
				body.execute(this.run);
			}
		}
	}

	private void waitForEarlierHolder() throws InterruptedException {
		if (this.run.settings().handover() != Handover.STRICT || !this.run.grant().followsUnreleased()) {
			return;
		}
		Duration wait = this.run.settings().timing().reliable();
		logger.info(this.run.job() + ": waits " + wait.toMillis()
				+ " ms, because the holder before has not given its lease back (handover: strict)");
		CompletableFuture<Object> over = new CompletableFuture<>();
		Runnable cancel = this.keeper.scheduling().timer().after(wait, () -> over.complete(wait));
		CompletableFuture<Void> unused = this.run.life().ended().thenAccept(over::complete);
		try {
			over.get();
		}
		catch (InterruptedException ex) {
			this.run.life().end(new RunEnd(RunOutcome.CANCELLED, "it was interrupted before its body began"));
			throw ex;
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException("Nothing completes this exceptionally", ex);
		}
		finally {
			cancel.run();
		}
	}

}
