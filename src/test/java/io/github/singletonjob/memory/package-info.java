/**
 * What the in-memory store has to fulfil.
 */
@NullMarked
package io.github.singletonjob.memory;

import org.jspecify.annotations.NullMarked;
