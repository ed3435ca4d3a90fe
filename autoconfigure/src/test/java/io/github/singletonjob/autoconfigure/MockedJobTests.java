package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.SingletonJob;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A test of an application that replaces its job by a mock.
 */
@SpringBootTest(classes = MockedJobTests.Application.class,
		properties = { "singleton-job.store=in-memory", "singleton-job.namespace=shop" })
class MockedJobTests {

	@MockitoBean
	Billing billing;

	@Test
	void anApplicationWhoseJobIsMockedStarts() {
		assertThat(this.billing).isNotNull();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(SingletonJobAutoConfiguration.class)
	@Import(Billing.class)
	static class Application {

	}

	static class Billing {

		@SingletonJob("billing")
		void charge() {
		}

	}

}
