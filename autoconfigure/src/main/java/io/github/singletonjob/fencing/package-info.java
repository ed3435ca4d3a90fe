/**
 * The fence in the guarded database: raised before a run reads anything, checked by the
 * database itself in every transaction that a run commits.
 */
@NullMarked
package io.github.singletonjob.fencing;

import org.jspecify.annotations.NullMarked;
