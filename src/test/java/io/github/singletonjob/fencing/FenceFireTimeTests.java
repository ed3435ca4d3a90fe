package io.github.singletonjob.fencing;

/**
 * Fire times in Postgres. H2 and MariaDB pass the same contract in
 * {@link PortableFenceTests}.
 */
class FenceFireTimeTests extends FenceFireTimeContract {

	FenceFireTimeTests() {
		super(new GuardedDatabase());
	}

}
