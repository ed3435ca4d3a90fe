package io.github.singletonjob.runtime;

/**
 * How a body ended.
 *
 * @param run how its run ended
 * @param byItself whether the run ended with the body, and not before
 * @param interruptedByUs whether the thread was told by an interrupt
 */
record BodyEnd(RunEnd run, boolean byItself, boolean interruptedByUs) {
}
