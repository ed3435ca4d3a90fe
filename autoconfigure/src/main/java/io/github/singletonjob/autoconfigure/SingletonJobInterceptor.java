package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.singletonjob.RunResult;
import io.github.singletonjob.runtime.RunRequest;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;

/**
 * Runs an annotated method as a job. A skipped run returns nothing; a run that is over
 * before its body ended throws, also if the body returned normally.
 */
class SingletonJobInterceptor implements MethodInterceptor {

	private final Supplier<JobEngine> engine;

	private final Supplier<JobDefinitions> definitions;

	SingletonJobInterceptor(Supplier<JobEngine> engine, Supplier<JobDefinitions> definitions) {
		this.engine = engine;
		this.definitions = definitions;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Method method = (target != null)
				? AopUtils.getMostSpecificMethod(invocation.getMethod(), AopUtils.getTargetClass(target))
				: invocation.getMethod();
		JobDefinition job = this.definitions.get().of(method);
		@Nullable Object[] value = { (method.getReturnType() == Optional.class) ? Optional.empty() : null };
		RunResult result = this.engine.get()
			.run(new RunRequest(job.id(), job.settings(), null), (run) -> value[0] = proceed(invocation));
		if (result.failure() != null) {
			throw result.failure();
		}
		return value[0];
	}

	private static @Nullable Object proceed(MethodInvocation invocation) throws Exception {
		try {
			return invocation.proceed();
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new UndeclaredThrowableException(ex);
		}
	}

}
