package io.github.singletonjob.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.spel.spi.EvaluationContextExtension;

/**
 * The token in queries of Spring Data.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(EvaluationContextExtension.class)
class SpringDataConfiguration {

	@Bean
	static TokenExpression singletonJobTokenExpression() {
		return new TokenExpression();
	}

}
