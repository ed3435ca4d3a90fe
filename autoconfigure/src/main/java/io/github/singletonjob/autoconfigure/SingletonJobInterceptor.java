package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;

/**
 * Runs an annotated method as a job. A skipped run returns nothing; a run that is over
 * before its body ended throws, also if the body returned normally.
 */
class SingletonJobInterceptor implements MethodInterceptor {

	private final Supplier<JobCalls> calls;

	private final Supplier<JobDefinitions> definitions;

	SingletonJobInterceptor(Supplier<JobCalls> calls, Supplier<JobDefinitions> definitions) {
		this.calls = calls;
		this.definitions = definitions;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? AopUtils.getTargetClass(target)
				: invocation.getMethod().getDeclaringClass();
		Method method = AopUtils.getMostSpecificMethod(invocation.getMethod(), targetClass);
		JobDefinition job = this.definitions.get().of(method, target, invocation.getArguments());
		JobCalls jobCalls = this.calls.get();
		Proceeding proceeding = Proceeding.of(invocation);
		if (CompletionStage.class.isAssignableFrom(method.getReturnType())) {
			return jobCalls.start(job, targetClass, () -> (CompletionStage<?>) proceeding.call());
		}
		Object value = jobCalls.run(job, targetClass, proceeding);
		return (value == null && method.getReturnType() == Optional.class) ? Optional.empty() : value;
	}

	/**
	 * The rest of the invocation. A call that finishes an open fire time before its own
	 * proceeds twice, which one invocation cannot.
	 */
	private static final class Proceeding implements Callable<@Nullable Object> {

		private final MethodInvocation second;

		private @Nullable MethodInvocation first;

		private Proceeding(MethodInvocation first, MethodInvocation second) {
			this.first = first;
			this.second = second;
		}

		static Proceeding of(MethodInvocation invocation) {
			return new Proceeding(invocation,
					(invocation instanceof ProxyMethodInvocation proxied) ? proxied.invocableClone() : invocation);
		}

		@Override
		public @Nullable Object call() throws Exception {
			MethodInvocation next = (this.first != null) ? this.first : this.second;
			this.first = null;
			try {
				return next.proceed();
			}
			catch (Exception | Error ex) {
				throw ex;
			}
			catch (Throwable ex) {
				throw new UndeclaredThrowableException(ex);
			}
		}

	}

}
