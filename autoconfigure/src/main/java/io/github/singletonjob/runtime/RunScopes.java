package io.github.singletonjob.runtime;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.lease.LeasedRun;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Opens all scopes around a body, and closes those that were opened, the last one first.
 */
final class RunScopes {

	private static final Log logger = LogFactory.getLog(RunScopes.class);

	private final List<RunScope> scopes;

	RunScopes(List<RunScope> scopes) {
		this.scopes = List.copyOf(scopes);
	}

	Opened open(LeasedRun run) {
		Opened opened = new Opened(run);
		try {
			this.scopes.forEach((scope) -> opened.scopes.push(scope.open(run)));
			return opened;
		}
		catch (RuntimeException | Error ex) {
			opened.close();
			opened.end();
			throw ex;
		}
	}

	/**
	 * The scopes of one run that are open.
	 */
	static final class Opened implements AutoCloseable {

		private final Deque<RunScope.Opened> scopes = new ArrayDeque<>();

		private final LeasedRun run;

		private Opened(LeasedRun run) {
			this.run = run;
		}

		@Override
		public void close() {
			this.scopes.forEach((scope) -> carefully(scope::close));
		}

		/** Ends them, on any thread. */
		void end() {
			try (CurrentJobRun.Scope bound = CurrentJobRun.open(this.run)) {
				this.scopes.forEach((scope) -> carefully(scope::end));
			}
		}

		private void carefully(Runnable closing) {
			try {
				closing.run();
			}
			catch (RuntimeException | Error ex) {
				logger.warn(
						this.run.job() + ": closing the scope of the run with token " + this.run.token() + " failed",
						ex);
			}
		}

	}

}
