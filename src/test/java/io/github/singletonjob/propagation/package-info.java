/**
 * Tests of runs on other threads than the job's own.
 */
@NullMarked
package io.github.singletonjob.propagation;

import org.jspecify.annotations.NullMarked;
