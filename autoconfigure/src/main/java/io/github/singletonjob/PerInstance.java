package io.github.singletonjob;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says that a scheduled method is meant to run on every instance, such as one that cleans
 * a local cache: {@code singleton-job.report-unmarked} leaves it out. On a type it counts
 * for all its methods. It changes nothing else.
 */
@Target({ ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface PerInstance {

}
