package io.github.singletonjob.autoconfigure;

import java.util.List;

import io.github.singletonjob.fencing.FenceUnusableException;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.UnusableStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Creates and verifies the tables of one database. A wrong answer fails the start; no
 * answer is a warning, and the work is done before the first run.
 */
class Preparation {

	private static final Log logger = LogFactory.getLog(Preparation.class);

	private final String what;

	private final List<Runnable> steps;

	private volatile boolean done;

	Preparation(String what, List<Runnable> steps) {
		this.what = what;
		this.steps = steps;
	}

	void atStart() {
		try {
			ensureDone();
		}
		catch (UnusableStoreException | FenceUnusableException ex) {
			throw ex;
		}
		catch (LeaseStoreException ex) {
			logger.warn(this.what + " did not answer at start: " + ex.getMessage()
					+ ". No job runs until it does; it is asked again before each run");
		}
	}

	void ensureDone() {
		if (!this.done) {
			this.steps.forEach(Runnable::run);
			this.done = true;
		}
	}

}
