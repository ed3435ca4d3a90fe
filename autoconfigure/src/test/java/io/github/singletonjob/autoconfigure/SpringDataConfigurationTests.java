package io.github.singletonjob.autoconfigure;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.spel.spi.EvaluationContextExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The token in queries of Spring Data, where there is Spring Data.
 */
class SpringDataConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop");

	@Test
	void thereIsAnExpressionForTheToken() {
		this.runner.run((context) -> assertThat(context.getBean(EvaluationContextExtension.class).getExtensionId())
			.isEqualTo("singletonJob"));
	}

	@Test
	void withoutSpringDataThereIsNone() {
		this.runner.withClassLoader(new FilteredClassLoader("org.springframework.data"))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("singletonJobTokenExpression"));
	}

	@Test
	void hibernateIsOptional() {
		this.runner.withClassLoader(new FilteredClassLoader("org.hibernate", "jakarta.persistence"))
			.run((context) -> assertThat(context).hasNotFailed());
	}

}
