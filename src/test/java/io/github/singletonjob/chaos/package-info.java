/**
 * Runs of real servers under seeded faults, and a check of what they left behind.
 */
@NullMarked
package io.github.singletonjob.chaos;

import org.jspecify.annotations.NullMarked;
