package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.Takeover;

/**
 * What starts a job, apart from direct calls.
 *
 * @param schedules when Spring's scheduler calls its method
 * @param takeover what becomes of a fire time that was not completed
 * @param continuous whether it runs all the time
 */
record JobStart(CronSchedules schedules, Takeover takeover, boolean continuous) {

	/** Whether an instance stands by for the job. */
	boolean isStoodByFor() {
		return this.continuous || (this.takeover == Takeover.AUTOMATIC && !this.schedules.isEmpty());
	}

}
