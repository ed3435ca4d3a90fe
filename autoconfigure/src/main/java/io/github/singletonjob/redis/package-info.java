/**
 * Leases kept by Redis (6.2 or newer). Entry point:
 * {@link io.github.singletonjob.redis.RedisLeaseStore}.
 */
@NullMarked
package io.github.singletonjob.redis;

import org.jspecify.annotations.NullMarked;
