package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;

import io.github.singletonjob.Takeover;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.runtime.RunSettings;

/**
 * An annotated method with its resolved name and settings.
 *
 * @param id the job
 * @param settings its settings
 * @param method the method that carries the annotation
 * @param schedules when Spring's scheduler calls the method
 * @param takeover what becomes of a fire time that was not completed
 * @param continuous whether the job runs all the time
 */
record JobDefinition(JobId id, RunSettings settings, Method method, CronSchedules schedules, Takeover takeover,
		boolean continuous) {

	/** Whether instances stand by for the job. */
	boolean hasStandBy() {
		return this.continuous || (this.takeover == Takeover.AUTOMATIC && !this.schedules.isEmpty());
	}

	String describeMethod() {
		return this.method.getDeclaringClass().getName() + "." + this.method.getName() + "()";
	}

}
