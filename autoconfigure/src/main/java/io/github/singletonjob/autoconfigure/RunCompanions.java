package io.github.singletonjob.autoconfigure;

import java.util.List;

import io.github.singletonjob.runtime.RunListener;
import io.github.singletonjob.runtime.RunScope;

/**
 * All that listens to runs or surrounds their bodies.
 *
 * @param listener is told what becomes of runs
 * @param scopes are opened around each body, in this order
 */
record RunCompanions(RunListener listener, List<RunScope> scopes) {
}
