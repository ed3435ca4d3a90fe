/**
 * Leases kept in this process, for tests and a laptop.
 */
@NullMarked
package io.github.singletonjob.memory;

import org.jspecify.annotations.NullMarked;
