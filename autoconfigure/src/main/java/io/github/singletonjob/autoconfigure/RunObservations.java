package io.github.singletonjob.autoconfigure;

import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.RunListener;
import io.github.singletonjob.runtime.RunScope;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * An observation around each run, from right before its body until its lease was given
 * back. It is the current one of the body's thread while the body is called, and nests
 * under the one that Spring opens around a scheduled method.
 */
class RunObservations implements RunListener, RunScope {

	private static final Log logger = LogFactory.getLog(RunObservations.class);

	private static final String NAME = "singleton.job";

	private final Map<LeasedRun, Observation> observations = new ConcurrentHashMap<>();

	private final ObservationRegistry registry;

	private final JobTags tags;

	private final String store;

	RunObservations(ObservationRegistry registry, JobTags tags, String store) {
		this.registry = registry;
		this.tags = tags;
		this.store = store;
	}

	@Override
	public Opened open(LeasedRun run) {
		try {
			return observe(run)::close;
		}
		catch (RuntimeException ex) {
			logger.warn(run.job() + ": the run with token " + run.token() + " is not observed: " + ex.getMessage(), ex);
			return () -> {
			};
		}
	}

	private Observation.Scope observe(LeasedRun run) {
		Observation observation = Observation.createNotStarted(NAME, this.registry)
			.contextualName("singleton-job " + this.tags.of(run.job()))
			.lowCardinalityKeyValue("job", this.tags.of(run.job()))
			.lowCardinalityKeyValue("store", this.store)
			// Meters want the same keys from the start to the end
			.lowCardinalityKeyValue("outcome", "none")
			.highCardinalityKeyValue("name", run.job())
			.highCardinalityKeyValue("token", Long.toString(run.token()))
			.highCardinalityKeyValue("fire.time", run.fireTime().map(Instant::toString).orElse("none"))
			.start();
		this.observations.put(run, observation);
		return observation.openScope();
	}

	@Override
	public void lost(LeasedRun run, String reason) {
	}

	@Override
	public void ended(LeasedRun run, RunResult result) {
		Observation observation = this.observations.remove(run);
		if (observation == null) {
			return;
		}
		observation.lowCardinalityKeyValue("outcome", result.outcome().name());
		if (result.failure() != null) {
			observation.error(result.failure());
		}
		observation.stop();
	}

}
