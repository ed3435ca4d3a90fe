package io.github.singletonjob.scope;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;
import org.springframework.web.context.request.AbstractRequestAttributes;

/**
 * The attributes of a run as those of a request. A run has no session.
 */
final class RunRequestAttributes extends AbstractRequestAttributes {

	private final Map<String, Object> attributes = new ConcurrentHashMap<>();

	private final String run;

	RunRequestAttributes(String run) {
		this.run = run;
	}

	@Override
	public @Nullable Object getAttribute(String name, int scope) {
		requireRequest(scope);
		return this.attributes.get(name);
	}

	@Override
	public void setAttribute(String name, Object value, int scope) {
		requireRequest(scope);
		if (!isRequestActive()) {
			throw new IllegalStateException("The " + this.run + " has ended: '" + name + "' cannot be used any more");
		}
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
