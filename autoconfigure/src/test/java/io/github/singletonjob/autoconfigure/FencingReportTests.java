package io.github.singletonjob.autoconfigure;

import javax.sql.DataSource;

import net.bytebuddy.ByteBuddy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.Mockito;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.jta.JtaTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a stale holder could still write to is said at start, and fails it where fencing
 * is required.
 */
@ExtendWith(OutputCaptureExtension.class)
class FencingReportTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop");

	private final ApplicationContextRunner fenced = this.runner.withBean("dataSource", DataSource.class,
			() -> new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:1/none"));

	@Test
	void ofAnApplicationWhoseOnlyDataSourceIsFencedThereIsNothingToSay(CapturedOutput output) {
		required(this.fenced).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("Not fenced");
	}

	@Test
	void jtaTransactionsAreNotFenced(CapturedOutput output) {
		isSaidAndFailsTheStartWhereFencingIsRequired("write: JTA transactions of bean 'jta'",
				with(this.fenced, "jta", JtaTransactionManager.class), output);
	}

	@Test
	void aPoolThatOnlyATransactionManagerHasIsNotFenced(CapturedOutput output) {
		isSaidAndFailsTheStartWhereFencingIsRequired(
				"write: transactions of bean 'own', whose DataSource is not guarded",
				this.fenced.withBean("own", JdbcTransactionManager.class, () -> new JdbcTransactionManager(
						new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:1/none"))),
				output);
	}

	@Test
	void aTransactionManagerOfTheFencedDataSourceIsNotNamed(CapturedOutput output) {
		ApplicationContextRunner application = this.fenced.withInitializer((context) -> {
			GenericApplicationContext beans = (GenericApplicationContext) context;
			beans.registerBean(JdbcTransactionManager.class,
					() -> new JdbcTransactionManager(beans.getBean(DataSource.class)));
		});
		required(application).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("Not fenced");
	}

	@Test
	void r2dbcConnectionsAreNotFenced(CapturedOutput output) {
		// Its API is not on the class path
		Class<?> type = new ByteBuddy().makeInterface()
			.name("io.r2dbc.spi.ConnectionFactory")
			.make()
			.load(getClass().getClassLoader())
			.getLoaded();
		isSaidAndFailsTheStartWhereFencingIsRequired("write: R2DBC connections of bean 'reactive'",
				with(this.fenced.withClassLoader(type.getClassLoader()), "reactive", type), output);
	}

	@Test
	void withoutTheFenceNothingIsFenced(CapturedOutput output) {
		isSaidAndFailsTheStartWhereFencingIsRequired(
				"write: everything, because singleton-job.fencing.enabled is false",
				this.fenced.withPropertyValues("singleton-job.fencing.enabled=false"), output);
	}

	@Test
	void withoutADataSourceNothingIsFenced(CapturedOutput output) {
		isSaidAndFailsTheStartWhereFencingIsRequired("write: everything, because no DataSource is guarded", this.runner,
				output);
	}

	private static void isSaidAndFailsTheStartWhereFencingIsRequired(String message,
			ApplicationContextRunner application, CapturedOutput output) {
		application.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output.getOut().lines().filter((line) -> line.contains("Not fenced"))).singleElement()
			.asString()
			.contains("WARN", message);
		required(application).run((context) -> assertThat(context).getFailure()
			.isInstanceOf(InvalidJobException.class)
			.hasMessageContaining("Not fenced")
			.hasMessageContaining(message));
	}

	private static ApplicationContextRunner required(ApplicationContextRunner application) {
		return application.withPropertyValues("singleton-job.fencing.required=true");
	}

	private static <T> ApplicationContextRunner with(ApplicationContextRunner application, String name, Class<T> type) {
		return application.withBean(name, type, () -> Mockito.mock(type));
	}

}
