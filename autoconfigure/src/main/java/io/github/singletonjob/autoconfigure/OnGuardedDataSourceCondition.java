package io.github.singletonjob.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches when there is a DataSource to guard.
 */
class OnGuardedDataSourceCondition extends SpringBootCondition implements ConfigurationCondition {

	@Override
	public ConfigurationPhase getConfigurationPhase() {
		return ConfigurationPhase.REGISTER_BEAN;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		String name = (context.getBeanFactory() != null)
				? GuardedDataSource.find(context.getBeanFactory(), context.getEnvironment()) : null;
		return new ConditionOutcome(name != null, "guarded DataSource: " + name);
	}

}
