/**
 * Bills every customer once per period: JPA, one transaction for each customer, and a
 * card network that recognises idempotency keys.
 */
@NullMarked
package io.github.singletonjob.sample.company.billing;

import org.jspecify.annotations.NullMarked;
