package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.singletonjob.lease.JobId;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationException;
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
	 * @throws InvalidJobException if it has an expression that cannot be read
	 */
	void check(String declared, String where) {
		if (!isExpression(declared)) {
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

	/** The job of one call. */
	JobDefinition ofCall(JobDefinition job, @Nullable Object target, @Nullable Object[] arguments) {
		String declared = job.id().name();
		if (!isExpression(declared)) {
			return job;
		}
		JobId id = new JobId(job.id().namespace(), evaluate(job, target, arguments));
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
		try {
			requireParts(declared, context, job);
			String name = parse(declared).getValue(context, String.class);
			return (name != null) ? name : "";
		}
		catch (EvaluationException ex) {
			throw new IllegalArgumentException("The name '" + declared + "' of the job at " + job.describeMethod()
					+ " cannot be evaluated for this call, so it was not run: " + ex.getMessage(), ex);
		}
	}

	/** A part that is null would be left out, and make one job of all such calls. */
	private void requireParts(String declared, MethodBasedEvaluationContext context, JobDefinition job) {
		Expression expression = parse(declared);
		Expression[] parts = (expression instanceof CompositeStringExpression all) ? all.getExpressions()
				: new Expression[] { expression };
		for (Expression part : parts) {
			if (!StringUtils.hasText(part.getValue(context, String.class)) && isDynamic(part)) {
				throw new IllegalArgumentException("The part #{" + part.getExpressionString() + "} of the name '"
						+ declared + "' of the job at " + job.describeMethod()
						+ " is null or empty for this call, so it was not run: give it a value. If it is a parameter,"
						+ " compile with -parameters, or write #a0 for the first one");
			}
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
