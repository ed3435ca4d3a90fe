package io.github.singletonjob.simulation;

import java.util.concurrent.CompletableFuture;

import io.github.singletonjob.OnLost;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * What a body does: it thinks, and commits transactions. Most stop soon after they were
 * told; some are stubborn, and go on as if nothing had happened.
 */
final class Work {

	private final SimulatedProcess process;

	private final DatabaseClient database;

	private final Plan plan;

	private final Dice dice;

	private final History history;

	private @Nullable RunHistory run;

	private boolean over;

	Work(SimulatedProcess process, DatabaseClient database, Plan plan, Dice dice, History history) {
		this.process = process;
		this.database = database;
		this.plan = plan;
		this.dice = dice;
		this.history = history;
	}

	/** As a body that blocks its thread. */
	void execute(LeasedRun leased) throws Exception {
		begin(leased);
		if (Thread.currentThread().isInterrupted()) {
			told();
		}
		try {
			perform(leased);
		}
		finally {
			end();
		}
	}

	/** As a stage, on a thread of the application. */
	void begin(LeasedRun leased) {
		this.run = this.history.began(leased);
		this.run.stubborn = this.dice.chance(0.1);
	}

	void perform(LeasedRun leased, CompletableFuture<Object> stage) {
		Strand strand = Strand.current();
		strand.onInterrupt(() -> {
		});
		CompletableFuture<Object> unused = stage.whenComplete((value, thrown) -> {
			if (stage.isCancelled() && !this.over) {
				told();
				end();
				strand.interrupt();
			}
		});
		if (stage.isCancelled()) {
			return;
		}
		try {
			perform(leased);
			end();
			stage.complete("done");
		}
		catch (Crash ex) {
			throw ex;
		}
		catch (Exception ex) {
			end();
			stage.completeExceptionally(ex);
		}
	}

	void told() {
		if (this.run != null) {
			this.history.told(this.run);
		}
	}

	private void end() {
		if (!this.over && this.run != null && !this.process.isGone()) {
			this.over = true;
			this.history.ended(this.run);
		}
	}

	private void perform(LeasedRun leased) throws Exception {
		long ttl = this.plan.ttl();
		long length = this.dice.chance(0.6) ? this.dice.between(ttl / 50, ttl) : this.dice.between(ttl, 5 * ttl);
		long steps = this.dice.between(1, 6);
		for (int i = 0; i < steps && !isTold(leased); i++) {
			think(length / steps);
			if (!isTold(leased)) {
				transact(leased);
			}
		}
		if (isTold(leased) && !isStubborn()) {
			this.process.sleep(this.dice.between(0, this.plan.stopEarly() / 4), false);
			if (this.dice.chance(0.5)) {
				throw (this.plan.settings().onLost() == OnLost.INTERRUPT) ? new InterruptedException("stops")
						: new IllegalStateException("stops");
			}
		}
		if (this.dice.chance(0.05)) {
			throw failed("no paper");
		}
	}

	private void think(long nanos) {
		this.process.sleep(nanos, !isStubborn());
	}

	private boolean isStubborn() {
		return this.run != null && this.run.stubborn;
	}

	private boolean isTold(LeasedRun leased) {
		if (isStubborn()) {
			return false;
		}
		return (this.plan.settings().onLost() == OnLost.SIGNAL) ? !leased.isHeld()
				: Thread.currentThread().isInterrupted();
	}

	private void transact(LeasedRun leased) {
		try {
			this.database.read(leased.grant());
			if (!isStubborn()) {
				leased.ensureOpen();
			}
			if (!this.database.commit(leased.grant())) {
				refused(leased);
			}
		}
		catch (LeaseStoreException ex) {
			this.history.note(this.run + ": " + ex.getMessage());
			if (this.dice.chance(0.5)) {
				throw failed("cannot work without its database");
			}
		}
	}

	private IllegalStateException failed(String why) {
		if (this.run != null) {
			this.run.failed = true;
		}
		return new IllegalStateException(why);
	}

	private void refused(LeasedRun leased) {
		if (this.run != null) {
			this.history.refused(this.run);
		}
		StaleTokenException refusal = new StaleTokenException(leased.job(), leased.token(), "refused");
		leased.refused(refusal);
		if (!isStubborn()) {
			throw refusal;
		}
	}

}
