/**
 * Leases kept by Postgres (14 or newer). Entry point:
 * {@link io.github.singletonjob.postgres.PostgresLeaseStore}.
 */
@NullMarked
package io.github.singletonjob.postgres;

import org.jspecify.annotations.NullMarked;
