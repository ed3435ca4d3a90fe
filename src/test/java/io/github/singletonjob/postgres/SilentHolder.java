package io.github.singletonjob.postgres;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;

/**
 * A process that acquires a lease, renews it and prints the answers.
 */
final class SilentHolder {

	private SilentHolder() {
	}

	/**
	 * Arguments: JDBC URL, namespace and name of the job, time to live in milliseconds.
	 */
	public static void main(String[] args) {
		PostgresLeaseStore store = Databases.store(args[0]);
		Duration ttl = Duration.ofMillis(Long.parseLong(args[3]));
		LeaseRequest request = new LeaseRequest(new JobId(args[1], args[2]), "the owner", "silent", ttl,
				Duration.ofSeconds(1), 0);
		// A new process on a busy machine can need longer than a third of a short ttl
		LeaseGrant grant = Instances.awaitGrant(() -> store.tryAcquire(request));
		System.out.println("token " + grant.token());
		Renewal answer = Renewal.UNKNOWN;
		while (answer != Renewal.GONE) {
			LockSupport.parkNanos(ttl.toNanos() / 10);
			answer = renew(store, grant);
			System.out.println(answer);
		}
	}

	private static Renewal renew(PostgresLeaseStore store, LeaseGrant grant) {
		try {
			return store.renew(List.of(grant)).get(0);
		}
		catch (LeaseStoreException ex) {
			return Renewal.UNKNOWN;
		}
	}

}
