package io.github.singletonjob.autoconfigure;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.runtime.HeldLease;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Whether the store answers, and whether this instance can renew what it holds: a holder
 * that cannot is about to lose its jobs. (As the health check of client-go's leader
 * election.) Asks the store once for each probe, for no longer than a renewal may take.
 */
class SingletonJobsHealthIndicator extends AbstractHealthIndicator {

	private final JobEngine engine;

	private final JobOperations operations;

	private final JobSettings settings;

	SingletonJobsHealthIndicator(JobEngine engine, JobOperations operations, JobSettings settings) {
		super("The health of singleton jobs could not be found out");
		this.engine = engine;
		this.operations = operations;
		this.settings = settings;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		builder.up().withDetail("store", this.settings.storeName());
		List<HeldLease> held = this.engine.held();
		builder.withDetail("leases", held.size());
		Map<String, String> overdue = held.stream()
			.filter(HeldLease::overdue)
			.collect(Collectors.toMap((lease) -> lease.run().job(), SingletonJobsHealthIndicator::describe,
					(one, other) -> one));
		if (!overdue.isEmpty()) {
			builder.down().withDetail("notRenewed", overdue);
		}
		askStore(builder);
	}

	private void askStore(Health.Builder builder) {
		Iterator<String> names = this.operations.names().iterator();
		String name = names.hasNext() ? names.next() : "health";
		JobId job = this.settings.id(name);
		try {
			this.engine.store().inspect(job, this.operations.settings(name).timing().callTimeout());
		}
		catch (LeaseStoreException ex) {
			builder.down(ex);
		}
	}

	private static String describe(HeldLease lease) {
		return "last confirmed " + lease.sinceConfirmed().toMillis() + " ms ago, can be relied on for another "
				+ lease.left().toMillis() + " ms";
	}

}
