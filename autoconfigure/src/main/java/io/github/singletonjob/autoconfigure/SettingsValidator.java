package io.github.singletonjob.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Refuses settings that would be ignored or misread. Spring Boot ignores keys that it
 * does not know and reads a duration without a unit as milliseconds; here either would
 * take away safety without a word.
 */
class SettingsValidator implements BeanFactoryPostProcessor, EnvironmentAware {

	private static final String PREFIX = "singleton-job";

	private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of(PREFIX);

	private static final String JOBS = "jobs.";

	/** Stands for the name of a job. */
	private static final String ANY = "*";

	private final Map<String, Class<?>> known = new TreeMap<>();

	private @Nullable Environment environment;

	SettingsValidator() {
		add("", SingletonJobProperties.class);
	}

	@Override
	public void setEnvironment(Environment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (this.environment == null) {
			return;
		}
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			if (source instanceof IterableConfigurationPropertySource settings) {
				settings.stream()
					.filter(ROOT::isAncestorOf)
					.forEach((name) -> validate(name, settings, this.environment));
			}
		}
	}

	private void add(String prefix, Class<?> type) {
		for (RecordComponent component : type.getRecordComponents()) {
			String name = prefix + dashed(component.getName());
			if (component.getType().isRecord()) {
				add(name + ".", component.getType());
			}
			else if (component.getType() == Map.class) {
				add(name + "." + ANY + ".", SingletonJobProperties.Job.class);
			}
			else {
				this.known.put(name, component.getType());
			}
		}
	}

	private static String dashed(String name) {
		return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
	}

	private void validate(ConfigurationPropertyName name, ConfigurationPropertySource source, Environment environment) {
		Class<?> type = this.known.entrySet()
			.stream()
			.filter((entry) -> matches(name, entry.getKey(), Collection.class.isAssignableFrom(entry.getValue())))
			.<Class<?>>map(Map.Entry::getValue)
			.findAny()
			.orElse(null);
		if (type == null) {
			throw new InvalidJobException("There is no setting " + name + ".", advice(name));
		}
		var property = source.getConfigurationProperty(name);
		if (type == Duration.class && property != null) {
			String value = environment.resolvePlaceholders(String.valueOf(property.getValue())).trim();
			requireUnit(name.toString(), value);
		}
	}

	/**
	 * Refuses a duration without a unit.
	 * @param where what has the value
	 * @param value a duration as text
	 */
	static void requireUnit(String where, String value) {
		if (value.matches("[+-]?\\d+") && !value.matches("[+-]?0+")) {
			throw new InvalidJobException(
					where + " is " + value + ", without a unit. That would be " + value + " milliseconds.",
					"Write the unit: did you mean " + value + "s? Units are ms, s, m, h and d.");
		}
	}

	private static boolean matches(ConfigurationPropertyName name, String path, boolean list) {
		String[] elements = path.split("\\.", -1);
		int skipped = ROOT.getNumberOfElements();
		int count = name.getNumberOfElements() - skipped;
		boolean indexed = list && count == elements.length + 1 && name.isNumericIndex(count - 1 + skipped);
		if (count != elements.length && !indexed) {
			return false;
		}
		return IntStream.range(0, elements.length)
			.allMatch((index) -> elements[index].equals(ANY)
					|| elements[index].replace("-", "").equals(name.getElement(index + skipped, Form.UNIFORM)));
	}

	private String advice(ConfigurationPropertyName name) {
		String key = name.toString().substring(PREFIX.length() + 1);
		boolean ofJob = key.startsWith(JOBS);
		if (ofJob && name.getNumberOfElements() > ROOT.getNumberOfElements() + 3) {
			return "If the name of the job has a dot, put it in brackets: \"" + PREFIX + ".jobs.[a.b].ttl\".";
		}
		String last = ofJob ? name.getLastElement(Form.DASHED) : key;
		Map<String, String> candidates = this.known.keySet()
			.stream()
			.filter((known) -> known.startsWith(JOBS) == ofJob)
			.collect(Collectors.toMap((known) -> ofJob ? known.substring(known.lastIndexOf('.') + 1) : known,
					(known) -> known));
		String nearest = candidates.keySet()
			.stream()
			.min(Comparator.comparingInt((candidate) -> distance(candidate, last)))
			.orElseThrow();
		String full = ofJob ? name.getParent().append(nearest).toString() : PREFIX + "." + nearest;
		return "Did you mean " + full + "? docs/configuration.md lists all settings.";
	}

	/**
	 * How many characters have to be changed, and whole words added count little: the
	 * last part of a key is what people remember.
	 */
	private static int distance(String candidate, String key) {
		String end = candidate.substring(candidate.lastIndexOf('.') + 1);
		return Math.min(edits(candidate, key), edits(end, key.substring(key.lastIndexOf('.') + 1)) + 1);
	}

	// Levenshtein's distance
	private static int edits(String one, String other) {
		int[] costs = IntStream.rangeClosed(0, other.length()).toArray();
		for (int i = 1; i <= one.length(); i++) {
			int diagonal = costs[0];
			costs[0] = i;
			for (int j = 1; j <= other.length(); j++) {
				int replaced = diagonal + ((one.charAt(i - 1) == other.charAt(j - 1)) ? 0 : 1);
				diagonal = costs[j];
				costs[j] = Math.min(replaced, Math.min(costs[j], costs[j - 1]) + 1);
			}
		}
		return costs[other.length()];
	}

}
