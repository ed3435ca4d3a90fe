/**
 * The run on threads that propagate Micrometer's context. Loaded by that library, and
 * only where it is present.
 */
@NullMarked
package io.github.singletonjob.propagation;

import org.jspecify.annotations.NullMarked;
