/**
 * The sequence of a run and the keeping of its lease. Knows neither Spring nor any client
 * library; time, timers and threads are parameters.
 */
@NullMarked
package io.github.singletonjob.runtime;

import org.jspecify.annotations.NullMarked;
