package io.github.singletonjob.scope;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.RunScope;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;
import org.springframework.web.context.request.AbstractRequestAttributes;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * Lets request-scoped beans be used inside a run: the run is their request. If there is a
 * request already, that of the web or that of a run around this one, it stays.
 */
public final class RequestScopeForRun implements RunScope {

	@Override
	public Opened open(LeasedRun run) {
		if (RequestContextHolder.getRequestAttributes() != null) {
			return () -> {
			};
		}
		RunRequestAttributes attributes = new RunRequestAttributes(run.toString());
		RequestContextHolder.setRequestAttributes(attributes);
		return new Opened() {

			@Override
			public void close() {
				RequestContextHolder.resetRequestAttributes();
			}

			@Override
			public void end() {
				RequestAttributes before = RequestContextHolder.getRequestAttributes();
				// Beans may use each other while they are destroyed
				RequestContextHolder.setRequestAttributes(attributes);
				try {
					attributes.requestCompleted();
				}
				finally {
					RequestContextHolder.setRequestAttributes(before);
				}
			}

		};
	}

	/**
	 * The attributes of a run as those of a request. A run has no session.
	 */
	private static final class RunRequestAttributes extends AbstractRequestAttributes {

		private final Map<String, Object> attributes = new ConcurrentHashMap<>();

		private final String run;

		RunRequestAttributes(String run) {
			this.run = run;
		}

		@Override
		public @Nullable Object getAttribute(String name, int scope) {
			requireRequest(scope);
			requireActive(name);
			return this.attributes.get(name);
		}

		@Override
		public void setAttribute(String name, Object value, int scope) {
			requireRequest(scope);
			requireActive(name);
			this.attributes.put(name, value);
		}

		@Override
		public void removeAttribute(String name, int scope) {
			requireRequest(scope);
			this.attributes.remove(name);
			removeRequestDestructionCallback(name);
		}

		@Override
		public String[] getAttributeNames(int scope) {
			requireRequest(scope);
			return StringUtils.toStringArray(this.attributes.keySet());
		}

		@Override
		public void registerDestructionCallback(String name, Runnable callback, int scope) {
			requireRequest(scope);
			registerRequestDestructionCallback(name, callback);
		}

		@Override
		public @Nullable Object resolveReference(String key) {
			return null;
		}

		@Override
		public String getSessionId() {
			throw noSession();
		}

		@Override
		public Object getSessionMutex() {
			throw noSession();
		}

		@Override
		protected void updateAccessedSessionAttributes() {
		}

		/** Otherwise a task that outlives the run would go on with its beans. */
		private void requireActive(String name) {
			if (!isRequestActive()) {
				throw new IllegalStateException("The " + this.run + " has ended: '" + name
						+ "' cannot be used any more. A task that is to use it must end before the job does: wait for it");
			}
		}

		private void requireRequest(int scope) {
			if (scope != SCOPE_REQUEST) {
				throw noSession();
			}
		}

		private IllegalStateException noSession() {
			return new IllegalStateException("A " + this.run
					+ " has no web session, so session-scoped beans cannot be used in it. Use @RequestScope or @JobRunScope");
		}

	}

}
