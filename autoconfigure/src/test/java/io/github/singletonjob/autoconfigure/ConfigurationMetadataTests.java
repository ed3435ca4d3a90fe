package io.github.singletonjob.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an editor offers, and that the documentation lists exactly that.
 */
class ConfigurationMetadataTests {

	private static final Path DOCUMENTATION = Path.of("..", "docs", "configuration.md");

	private static final Pattern PROPERTY = Pattern.compile("(?m)^\\| `((?:singleton-job|management)\\.[a-z.-]+)` \\|");

	private static final Pattern JOB_SETTING = Pattern.compile("(?m)^\\| `([a-z-]+)` \\|");

	@Test
	void everyPropertyHasADescription() throws IOException {
		assertThat(properties()).isNotEmpty()
			.allSatisfy(
					(property) -> assertThat(property.get("description")).as("description of " + property.get("name"))
						.asString()
						.hasSizeGreaterThan(10));
	}

	@Test
	void theDocumentationListsExactlyTheProperties() throws IOException {
		Set<String> documented = found(PROPERTY, Files.readString(DOCUMENTATION));
		Set<String> known = new TreeSet<>();
		properties().forEach((property) -> known.add((String) property.get("name")));
		// Its keys are names of jobs; the settings of one are in a table of their own
		known.remove("singleton-job.jobs");
		assertThat(documented).isEqualTo(known);
	}

	@Test
	void theDocumentationListsExactlyTheSettingsOfAJob() throws IOException {
		String text = Files.readString(DOCUMENTATION);
		int start = text.indexOf("Settings of one job:");
		String table = text.substring(start, text.indexOf("```", start));
		Set<String> settings = new TreeSet<>();
		for (var component : SingletonJobProperties.Job.class.getRecordComponents()) {
			settings.add(component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(java.util.Locale.ROOT));
		}
		assertThat(found(JOB_SETTING, table)).isEqualTo(settings);
	}

	@Test
	void hintsAreForPropertiesThatExist() throws IOException {
		Set<String> known = new TreeSet<>();
		properties().forEach((property) -> known.add((String) property.get("name")));
		assertThat(list("hints")).isNotEmpty()
			.allSatisfy((hint) -> assertThat(known).contains((String) hint.get("name")));
	}

	private static Set<String> found(Pattern pattern, String text) {
		Set<String> found = new TreeSet<>();
		Matcher matcher = pattern.matcher(text);
		while (matcher.find()) {
			found.add(matcher.group(1));
		}
		return found;
	}

	private static List<Map<String, Object>> properties() throws IOException {
		return list("properties");
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> list(String name) throws IOException {
		Path classes = Path.of("target", "classes", "META-INF", "spring-configuration-metadata.json");
		return (List<Map<String, Object>>) JsonMapper.shared()
			.readValue(Files.readString(classes), Map.class)
			.get(name);
	}

}
