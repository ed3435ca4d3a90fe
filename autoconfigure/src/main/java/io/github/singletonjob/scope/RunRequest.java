package io.github.singletonjob.scope;

import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.RunScope;

import org.springframework.web.context.request.RequestContextHolder;

/**
 * Lets request-scoped beans be used inside a run: the run is their request. If there is a
 * request already, that of the web or that of a run around this one, it stays.
 */
public final class RunRequest implements RunScope {

	@Override
	public Opened open(LeasedRun run) {
		if (RequestContextHolder.getRequestAttributes() != null) {
			return () -> {
			};
		}
		RunRequestAttributes attributes = new RunRequestAttributes(run.toString());
		RequestContextHolder.setRequestAttributes(attributes);
		return () -> {
			try {
				attributes.requestCompleted();
			}
			finally {
				RequestContextHolder.resetRequestAttributes();
			}
		};
	}

}
