package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.singletonjob.JobOptions;
import io.github.singletonjob.SingletonJob;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.ExpressionException;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.StringUtils;

/**
 * Reads the annotation of a method, with placeholders resolved, once for each method.
 */
class JobDefinitions {

	private static final Log logger = LogFactory.getLog(JobDefinitions.class);

	private final JobSettings settings;

	private final JobNames names;

	private final ConfigurableBeanFactory beanFactory;

	private final Map<Method, JobDefinition> definitions = new ConcurrentHashMap<>();

	JobDefinitions(JobSettings settings, ConfigurableBeanFactory beanFactory, JobNames names) {
		this.settings = settings;
		this.names = names;
		this.beanFactory = beanFactory;
	}

	/** The job of one call, whose name may depend on its arguments. */
	JobDefinition of(Method method, @Nullable Object target, @Nullable Object[] arguments) {
		return this.names.ofCall(of(method), target, arguments);
	}

	JobDefinition of(Method method) {
		return this.definitions.computeIfAbsent(method, this::define);
	}

	/** Those that were read so far: all of the application once it has started. */
	Collection<JobDefinition> all() {
		return this.definitions.values();
	}

	private JobDefinition define(Method method) {
		SingletonJob annotation = AnnotatedElementUtils.findMergedAnnotation(method, SingletonJob.class);
		if (annotation == null) {
			throw new IllegalArgumentException(method + " is no job");
		}
		String where = method.getDeclaringClass().getName() + "." + method.getName() + "()";
		String name = resolve(annotation.value(), where);
		if (!StringUtils.hasText(name)) {
			throw new InvalidJobException(
					"The job at " + where + " has an empty name"
							+ (annotation.value().isBlank() ? "."
									: ": '" + annotation.value() + "' resolved to nothing."),
					"Name it: @SingletonJob(\"billing\").");
		}
		this.names.check(name, method, where);
		JobOptions options = new JobOptions(duration(annotation.ttl(), "ttl", where),
				duration(annotation.minHold(), "minHold", where), duration(annotation.maxRun(), "maxRun", where),
				annotation.onLost(), annotation.handover(), annotation.onShutdown());
		return new JobDefinition(this.settings.id(name), this.settings.settings(name, options), method,
				schedules(method, name, where), this.settings.takeover(name, annotation.takeover()),
				annotation.continuous());
	}

	private CronSchedules schedules(Method method, String name, String where) {
		CronSchedules schedules = read(method, where);
		if (schedules.isEmpty()) {
			return schedules;
		}
		String without = " has no fire times, and its runs are not taken over: ";
		if (isAsync(method)) {
			logger.warn("The job at " + where + without
					+ "it is @Async, and on that thread nobody knows the firing. Remove @Async, or return a CompletionStage");
			return CronSchedules.NONE;
		}
		if (JobNames.isExpression(name)) {
			logger.warn("The job at " + where + without
					+ "its name is evaluated for each call, so that nobody knows which ones there are");
			return CronSchedules.NONE;
		}
		return schedules;
	}

	/** Spring resolves expressions in these attributes as well as placeholders. */
	private CronSchedules read(Method method, String where) {
		EmbeddedValueResolver expressions = new EmbeddedValueResolver(this.beanFactory);
		try {
			return CronSchedules.of(method, (text) -> {
				String resolved = resolve(text, where);
				return resolved.contains("#{") ? expressions.resolveStringValue(text) : resolved;
			});
		}
		catch (BeansException | ExpressionException | IllegalArgumentException ex) {
			throw new InvalidJobException(
					"The schedule of the job at " + where + " cannot be read: "
							+ NestedExceptionUtils.getMostSpecificCause(ex).getMessage() + ".",
					"Correct the cron expression or the zone of its @Scheduled.");
		}
	}

	private static boolean isAsync(Method method) {
		return AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class);
	}

	private @Nullable Duration duration(String text, String attribute, String where) {
		String resolved = resolve(text, where);
		if (!StringUtils.hasText(resolved)) {
			return null;
		}
		SettingsValidator.requireUnit("The " + attribute + " of the job at " + where, resolved.trim());
		try {
			return DurationStyle.detectAndParse(resolved.trim());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidJobException(
					"The " + attribute + " '" + resolved + "' of the job at " + where + " is no duration.",
					"Write it like 30s, 5m or PT30S.");
		}
	}

	private String resolve(String text, String where) {
		String resolved;
		try {
			resolved = this.beanFactory.resolveEmbeddedValue(text);
		}
		catch (IllegalArgumentException ex) {
			throw unresolvable(text, where);
		}
		if (resolved != null && resolved.contains("${")) {
			throw unresolvable(text, where);
		}
		return (resolved != null) ? resolved : "";
	}

	private static InvalidJobException unresolvable(String text, String where) {
		return new InvalidJobException("The annotation of the job at " + where + " has a placeholder in '" + text
				+ "' that cannot be resolved.", "Define the property, or give it a default: ${name:default}.");
	}

}
