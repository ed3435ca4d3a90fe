/**
 * Leases kept by etcd (3.4 or newer). Entry point:
 * {@link io.github.singletonjob.etcd.EtcdLeaseStore}.
 */
@NullMarked
package io.github.singletonjob.etcd;

import org.jspecify.annotations.NullMarked;
