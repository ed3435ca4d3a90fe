package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

import io.github.singletonjob.lease.JobId;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.StringUtils;

/**
 * Evaluates names that depend on the call, such as <code>billing-#{#tenant}</code>: each
 * value is a job of its own, with the settings of the declared name. Remembers which
 * declared name an evaluated one comes from.
 */
class JobNames {

	private static final String BEGIN = "#{";

	private static final int MOST_REMEMBERED = 10_000;

	private final SpelExpressionParser parser = new SpelExpressionParser();

	private final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

	private final Map<String, Expression> expressions = new ConcurrentHashMap<>();

	private final Map<String, String> declaredNames = new ConcurrentHashMap<>();

	private final BeanFactory beanFactory;

	JobNames(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/** Whether a declared name depends on the call. */
	static boolean isExpression(String declared) {
		return declared.contains(BEGIN);
	}

	/**
	 * Reads a declared name.
	 * @throws InvalidJobException if it has an expression that cannot be read, or looks
	 * like one and is none
	 */
	void check(String declared, Method method, String where) {
		if (!isExpression(declared)) {
			refuseParameterWithoutBraces(declared, method, where);
			return;
		}
		try {
			parse(declared);
		}
		catch (ParseException ex) {
			throw new InvalidJobException(
					"The name '" + declared + "' of the job at " + where + " cannot be read: " + ex.getMessage() + ".",
					"Write it like billing-#{#tenant}, where #tenant is a parameter of the method.");
		}
	}

	private void refuseParameterWithoutBraces(String declared, Method method, String where) {
		String[] parameters = this.parameterNames.getParameterNames(method);
		for (String parameter : (parameters != null) ? parameters : new String[0]) {
			if (declared.matches(".*#" + Pattern.quote(parameter) + "\\b.*")) {
				throw new InvalidJobException(
						"The name '" + declared + "' of the job at " + where + " is one name for all values of "
								+ parameter + ".",
						"Put the expression in braces: " + declared.replace("#" + parameter, "#{#" + parameter + "}")
								+ ".");
			}
		}
	}

	/**
	 * Refuses names that a log line or an operator could not show as they are.
	 * @throws IllegalArgumentException if there is a space at an end or a control
	 * character in it
	 */
	static void requirePlain(String what, String name) {
		if (!name.equals(name.strip())) {
			throw new IllegalArgumentException(
					"The " + what + " '" + name + "' begins or ends with a space: remove it");
		}
		if (name.chars().anyMatch(Character::isISOControl)) {
			throw new IllegalArgumentException("The " + what + " '" + name.replaceAll("\\p{Cntrl}", "?")
					+ "' has a line break or another control character in it: remove it");
		}
	}

	/** The job of one call. */
	JobDefinition ofCall(JobDefinition job, @Nullable Object target, @Nullable Object[] arguments) {
		String declared = job.id().name();
		if (!isExpression(declared)) {
			return job;
		}
		String name = evaluate(job, target, arguments);
		JobId id = new JobId(job.id().namespace(), name);
		requirePlain("job name", name);
		if (this.declaredNames.size() < MOST_REMEMBERED) {
			this.declaredNames.put(id.name(), declared);
		}
		return new JobDefinition(id, job.settings(), job.method(), job.schedules(), job.takeover(), job.continuous());
	}

	/**
	 * The name as it was declared: there are few of those, whatever the arguments are.
	 */
	String declared(String job) {
		return this.declaredNames.getOrDefault(job, job);
	}

	private String evaluate(JobDefinition job, @Nullable Object target, @Nullable Object[] arguments) {
		String declared = job.id().name();
		Method method = job.method();
		MethodBasedEvaluationContext context = new MethodBasedEvaluationContext((target != null) ? target : method,
				method, arguments, this.parameterNames);
		context.setBeanResolver(new BeanFactoryResolver(this.beanFactory));
		requireParts(declared, context, job);
		try {
			String name = parse(declared).getValue(context, String.class);
			return (name != null) ? name : "";
		}
		catch (RuntimeException ex) {
			throw notEvaluated(declared, job, ex);
		}
	}

	/** What an expression calls may throw anything. */
	private static IllegalArgumentException notEvaluated(String declared, JobDefinition job, RuntimeException cause) {
		return new IllegalArgumentException("The name '" + declared + "' of the job at " + job.describeMethod()
				+ " cannot be evaluated for this call, so it was not run: " + cause, cause);
	}

	/** A part that is null would be left out, and make one job of all such calls. */
	private void requireParts(String declared, MethodBasedEvaluationContext context, JobDefinition job) {
		Expression expression = parse(declared);
		Expression[] parts = (expression instanceof CompositeStringExpression all) ? all.getExpressions()
				: new Expression[] { expression };
		for (Expression part : parts) {
			if (isDynamic(part) && !StringUtils.hasText(value(part, context, declared, job))) {
				throw new IllegalArgumentException("The part #{" + part.getExpressionString() + "} of the name '"
						+ declared + "' of the job at " + job.describeMethod()
						+ " is null or empty for this call, so it was not run: give it a value. If it is a parameter,"
						+ " compile with -parameters, or write #a0 for the first one");
			}
		}
	}

	private static @Nullable String value(Expression part, MethodBasedEvaluationContext context, String declared,
			JobDefinition job) {
		try {
			return part.getValue(context, String.class);
		}
		catch (RuntimeException ex) {
			throw notEvaluated(declared, job, ex);
		}
	}

	private static boolean isDynamic(Expression part) {
		return !(part instanceof LiteralExpression);
	}

	private Expression parse(String declared) {
		return this.expressions.computeIfAbsent(declared,
				(text) -> this.parser.parseExpression(text, new TemplateParserContext()));
	}

}
