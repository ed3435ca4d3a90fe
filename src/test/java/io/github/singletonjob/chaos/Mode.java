package io.github.singletonjob.chaos;

import java.util.List;
import java.util.Locale;

/**
 * What stands between a stale holder and the ledger. All but the first are controls.
 */
enum Mode {

	/** The library as it is. */
	FENCED(ChaosServer.class, true),

	/** The library with its fence switched off. */
	UNFENCED(ChaosServer.class, false),

	/**
	 * The library, and fire times that are recorded as completed whenever a body throws.
	 */
	UNCONFIRMED(ChaosServer.class, true),

	/** ShedLock in its place. */
	SHEDLOCK(ShedLockServer.class, false);

	final Class<?> server;

	final boolean fencing;

	Mode(Class<?> server, boolean fencing) {
		this.server = server;
		this.fencing = fencing;
	}

	/**
	 * Deletes all leases, where PostgreSQL is the store. ShedLock does not find out that
	 * a row of its table is gone, so its rows stay and their time ends.
	 */
	List<String> wipe() {
		return (this == SHEDLOCK) ? List.of("update shedlock set lock_until = timezone('utc', current_timestamp)")
				: List.of("delete from singleton_job_lease", "delete from singleton_job_lease_fire_time");
	}

	boolean isControl() {
		return this != FENCED;
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
