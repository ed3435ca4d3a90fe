package io.github.singletonjob.rows;

import java.time.Duration;
import java.util.Optional;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeasedRun;

import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Runs of holders that do not know whether they have been overtaken, as one that was
 * frozen.
 */
final class Runs {

	private Runs() {
	}

	static LeasedRun of(String job, long token) {
		LeaseRequest request = new LeaseRequest(new JobId("shop", job), "owner-" + token, "holder-" + token,
				Duration.ofSeconds(10), Duration.ofSeconds(5), 0);
		LeaseGrant grant = new LeaseGrant(request, token, null, false);
		LeasedRun run = mock(LeasedRun.class);
		given(run.job()).willReturn(job);
		given(run.token()).willReturn(token);
		given(run.holder()).willReturn("holder-" + token);
		given(run.grant()).willReturn(grant);
		given(run.ttl()).willReturn(Duration.ofSeconds(10));
		given(run.enclosing()).willReturn(Optional.empty());
		return run;
	}

	static LeasedRun inside(LeasedRun enclosing, String job, long token) {
		LeasedRun run = of(job, token);
		given(run.enclosing()).willReturn(Optional.of(enclosing));
		return run;
	}

	static void in(LeasedRun run, Runnable work) {
		try (var scope = CurrentJobRun.open(run)) {
			work.run();
		}
	}

}
