package io.github.singletonjob.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.simulation.Network.Link;
import org.jspecify.annotations.Nullable;

/**
 * The model store as one process sees it.
 *
 * @param process the process
 * @param server the server
 * @param network lies between
 * @param loop time
 * @param callTimeout how long a call may take
 */
record StoreClient(SimulatedProcess process, StoreServer server, Network network, EventLoop loop,
		Duration callTimeout) implements LeaseStore {

	private static final long SOON = 20_000_000;

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
		try {
			return this.network.call(this.process, Link.STORE, request.callTimeout(), 0,
					() -> this.server.acquire(this.process, request));
		}
		catch (LeaseStoreException ex) {
			this.loop.instant(this.loop.now() + SOON, this.process, () -> this.server.giveUp(request.owner()));
			throw ex;
		}
	}

	@Override
	public List<Renewal> renew(List<LeaseGrant> grants) {
		return call(() -> this.server.renew(grants));
	}

	@Override
	public boolean complete(LeaseGrant grant, Instant completed) {
		return call(() -> this.server.complete(grant, completed));
	}

	@Override
	public boolean release(LeaseGrant grant, @Nullable Instant completed) {
		return call(() -> this.server.release(grant, completed));
	}

	@Override
	public LeaseRecord inspect(JobId job, Duration timeout) {
		return call(this.server::inspect);
	}

	@Override
	public LeaseWatch watch(JobId job, Duration ttl, Runnable freed) {
		Object key = new Object();
		Runnable wake = () -> this.loop.instant(this.loop.now() + SOON, this.process, freed);
		return call(() -> {
			this.server.watch(key, wake);
			return () -> this.server.unwatch(key);
		});
	}

	private <T> T call(Supplier<T> request) {
		return this.network.call(this.process, Link.STORE, this.callTimeout, 0, request);
	}

}
