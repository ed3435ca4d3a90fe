/**
 * What every store has to fulfil:
 * {@link io.github.singletonjob.contract.LeaseStoreContract}.
 */
@NullMarked
package io.github.singletonjob.contract;

import org.jspecify.annotations.NullMarked;
