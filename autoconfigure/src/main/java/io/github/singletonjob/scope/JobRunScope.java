package io.github.singletonjob.scope;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.annotation.AliasFor;

/**
 * A bean that lives for one run of a job: made at its first use in the run, the same on
 * all threads that the run is bound to, destroyed when the body has ended and the lease
 * is still kept. Outside of a run, and after its end, its use is a
 * {@link org.springframework.beans.factory.support.ScopeNotActiveException}.
 * <p>
 * A shorter form of {@code @Scope("job-run")} with a proxy, so that the bean can be
 * injected anywhere.
 */
@Target({ ElementType.TYPE, ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Scope(JobRunScope.NAME)
public @interface JobRunScope {

	/**
	 * The name of the scope.
	 */
	String NAME = "job-run";

	/**
	 * The proxy that stands for the bean of the current run.
	 * @return the kind of proxy; with {@link ScopedProxyMode#NO} the bean can only be
	 * looked up inside a run
	 */
	@AliasFor(annotation = Scope.class, attribute = "proxyMode")
	ScopedProxyMode proxyMode() default ScopedProxyMode.TARGET_CLASS;

}
