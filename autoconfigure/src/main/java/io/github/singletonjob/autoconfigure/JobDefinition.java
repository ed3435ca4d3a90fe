package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.runtime.RunSettings;

/**
 * An annotated method with its resolved name and settings.
 *
 * @param id the job
 * @param settings its settings
 * @param method the method that carries the annotation
 * @param start what starts it
 */
record JobDefinition(JobId id, RunSettings settings, Method method, JobStart start) {

	String describeMethod() {
		return this.method.getDeclaringClass().getName() + "." + this.method.getName() + "()";
	}

}
