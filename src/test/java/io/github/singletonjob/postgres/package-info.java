/**
 * What only the Postgres store has to fulfil.
 */
@NullMarked
package io.github.singletonjob.postgres;

import org.jspecify.annotations.NullMarked;
