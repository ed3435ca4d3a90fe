/**
 * The wiring against a real database.
 */
@NullMarked
package io.github.singletonjob.autoconfigure;

import org.jspecify.annotations.NullMarked;
