/**
 * Faults on real processes: what the data look like after a freeze, a kill, a cut.
 */
@NullMarked
package io.github.singletonjob.faults;

import org.jspecify.annotations.NullMarked;
