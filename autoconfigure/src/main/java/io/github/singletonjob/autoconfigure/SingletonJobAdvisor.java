package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;

import io.github.singletonjob.SingletonJob;

import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Applies the interceptor to annotated methods, outside of transactions: a lease that was
 * given back before the commit would protect nothing.
 */
@SuppressWarnings("serial")
class SingletonJobAdvisor extends StaticMethodMatcherPointcutAdvisor {

	/** Before the default order of transactions, which is the lowest precedence. */
	static final int ORDER = Ordered.LOWEST_PRECEDENCE - 100;

	SingletonJobAdvisor(SingletonJobInterceptor interceptor) {
		super(interceptor);
		setOrder(ORDER);
	}

	@Override
	public ClassFilter getClassFilter() {
		return (type) -> AnnotationUtils.isCandidateClass(type, SingletonJob.class);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return AnnotatedElementUtils.hasAnnotation(AopUtils.getMostSpecificMethod(method, targetClass),
				SingletonJob.class);
	}

}
