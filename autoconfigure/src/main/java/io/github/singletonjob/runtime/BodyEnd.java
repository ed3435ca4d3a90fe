package io.github.singletonjob.runtime;

/**
 * How a body ended.
 *
 * @param run how its run ended
 * @param byItself whether the run ended with the body, and not before
 */
record BodyEnd(RunEnd run, boolean byItself) {
}
