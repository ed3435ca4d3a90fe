package io.github.singletonjob.autoconfigure;

import java.util.Map;

import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Reads the property as it is bound, so that every spelling that binds also matches. A
 * value that does not bind is reported where the properties are bound.
 */
class OnStoreCondition extends SpringBootCondition {

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		Map<String, Object> attributes = metadata.getAnnotationAttributes(ConditionalOnStore.class.getName());
		Object wanted = (attributes != null) ? attributes.get("value") : null;
		try {
			StoreType store = Binder.get(context.getEnvironment())
				.bind("singleton-job.store", StoreType.class)
				.orElse(null);
			return new ConditionOutcome(store != null && store == wanted, "singleton-job.store is " + store);
		}
		catch (BindException ex) {
			return ConditionOutcome.noMatch("singleton-job.store names no store");
		}
	}

}
