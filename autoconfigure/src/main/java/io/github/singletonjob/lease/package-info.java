/**
 * What a store and a fence have to offer, and what they are given: the service provider
 * interfaces {@link io.github.singletonjob.lease.LeaseStore} and
 * {@link io.github.singletonjob.lease.Fence}.
 */
@NullMarked
package io.github.singletonjob.lease;

import org.jspecify.annotations.NullMarked;
