/**
 * Beans that live for one run: those of the scope {@code job-run}, and Spring's
 * request-scoped ones.
 */
@NullMarked
package io.github.singletonjob.scope;

import org.jspecify.annotations.NullMarked;
