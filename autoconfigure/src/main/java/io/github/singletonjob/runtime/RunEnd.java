package io.github.singletonjob.runtime;

import io.github.singletonjob.RunOutcome;

/**
 * How a run ended, whether its body has or not.
 *
 * @param outcome the outcome
 * @param reason what happened, for people; continues "the run is over: …"
 */
record RunEnd(RunOutcome outcome, String reason) {
}
