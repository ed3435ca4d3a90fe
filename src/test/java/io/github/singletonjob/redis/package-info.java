/**
 * The store in Redis, on real servers.
 */
@NullMarked
package io.github.singletonjob.redis;

import org.jspecify.annotations.NullMarked;
