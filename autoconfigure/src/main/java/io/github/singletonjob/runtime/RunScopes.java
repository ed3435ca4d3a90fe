package io.github.singletonjob.runtime;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

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

	AutoCloseable open(LeasedRun run) {
		Deque<RunScope.Opened> opened = new ArrayDeque<>();
		try {
			this.scopes.forEach((scope) -> opened.push(scope.open(run)));
		}
		catch (RuntimeException | Error ex) {
			close(run, opened);
			throw ex;
		}
		return () -> close(run, opened);
	}

	private static void close(LeasedRun run, Deque<RunScope.Opened> opened) {
		while (!opened.isEmpty()) {
			try {
				opened.pop().close();
			}
			catch (RuntimeException ex) {
				logger.warn(run.job() + ": closing the scope of the run with token " + run.token() + " failed", ex);
			}
		}
	}

}
