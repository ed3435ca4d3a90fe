/**
 * Spring wiring: properties, conditions, the interceptor behind the annotation, start-up
 * checks and failure analyzers.
 */
@NullMarked
package io.github.singletonjob.autoconfigure;

import org.jspecify.annotations.NullMarked;
