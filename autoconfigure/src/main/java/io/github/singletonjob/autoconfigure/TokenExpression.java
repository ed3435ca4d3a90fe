package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.util.Map;

import io.github.singletonjob.fencing.RowFence;

import org.springframework.data.spel.spi.EvaluationContextExtension;
import org.springframework.data.spel.spi.Function;
import org.springframework.util.ReflectionUtils;

/**
 * Makes {@code :#{singletonJob.token}} in a query the token of the current run. It is
 * asked for when a query with that expression is executed, and by no other.
 */
class TokenExpression implements EvaluationContextExtension {

	@Override
	public String getExtensionId() {
		return "singletonJob";
	}

	@Override
	public Map<String, Object> getProperties() {
		Method token = ReflectionUtils.findMethod(RowFence.class, "token");
		if (token == null) {
			throw new IllegalStateException("RowFence has no token");
		}
		return Map.of("token", new Function(token));
	}

}
