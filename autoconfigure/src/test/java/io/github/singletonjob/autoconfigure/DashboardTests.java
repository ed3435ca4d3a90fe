package io.github.singletonjob.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.SingletonJobs;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;

import static io.github.singletonjob.autoconfigure.OperatedJobs.await;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The dashboard is built on metrics that a real run registers, and the documentation
 * names no others.
 */
@Timeout(120)
class DashboardTests {

	private static final Path DOCS = Path.of("..", "docs");

	private static final Set<String> TABLES = Set.of("singleton_job_fire_time", "singleton_job_lease",
			"singleton_job_lease_fire_time");

	private static final Pattern METRIC = Pattern.compile("singleton_job_[a-z_]+");

	@Test
	void theDashboardLoadsAndHasAQueryInEachPanel() throws IOException {
		JsonNode dashboard = JsonMapper.shared().readTree(Files.readString(DOCS.resolve("grafana-dashboard.json")));
		assertThat(dashboard.get("title").asString()).isEqualTo("Singleton jobs");
		assertThat(dashboard.get("schemaVersion").asInt()).isGreaterThanOrEqualTo(36);
		assertThat(dashboard.get("panels")).isNotEmpty().allSatisfy((panel) -> {
			assertThat(panel.get("title").asString()).isNotBlank();
			assertThat(panel.get("gridPos").get("w").asInt()).isBetween(1, 24);
			assertThat(panel.get("targets")).isNotEmpty()
				.allSatisfy((target) -> assertThat(target.get("expr").asString()).contains("singleton_job_"));
		});
		Set<Integer> ids = new TreeSet<>();
		dashboard.get("panels").forEach((panel) -> assertThat(ids.add(panel.get("id").asInt())).isTrue());
	}

	@Test
	void eachMetricOfTheDashboardAndOfTheDocumentationIsRegisteredInARealRun() throws IOException {
		Set<String> registered = registeredInARun();
		assertThat(metrics("grafana-dashboard.json")).isNotEmpty().isSubsetOf(registered);
		Set<String> documented = metrics("operations.md");
		documented.removeAll(TABLES);
		assertThat(documented).hasSizeGreaterThan(5).isSubsetOf(registered);
	}

	@Test
	void aMetricThatIsNotRegisteredWouldBeFound() {
		Set<String> invented = found("sum(rate(singleton_job_heartbeats_total{job=\"billing\"}[5m]))");
		assertThat(invented).containsExactly("singleton_job_heartbeats_total");
		assertThat(registeredInARun()).isNotEmpty().doesNotContainAnyElementsOf(invented);
	}

	private static Set<String> metrics(String document) throws IOException {
		return found(Files.readString(DOCS.resolve(document)));
	}

	private static Set<String> registeredInARun() {
		SwitchedStore store = new SwitchedStore();
		PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
		OperatedJobs.runner(store)
			.withConfiguration(
					AutoConfigurations.of(MetricsAutoConfiguration.class, ObservationAutoConfiguration.class))
			.withBean(PrometheusMeterRegistry.class, () -> registry)
			.run((context) -> {
				RunOutcome outcome = context.getBean(SingletonJobs.class).run("billing", (run) -> {
					assertThat(registry.scrape()).contains("singleton_job_active_seconds_count");
					await(() -> registry.scrape().contains("singleton_job_renewals_seconds_max"));
				}).outcome();
				assertThat(outcome).isEqualTo(RunOutcome.COMPLETED);
			});
		return found(registry.scrape());
	}

	private static Set<String> found(String text) {
		Matcher matcher = METRIC.matcher(text);
		return matcher.results().map((result) -> result.group()).collect(Collectors.toCollection(TreeSet::new));
	}

}
