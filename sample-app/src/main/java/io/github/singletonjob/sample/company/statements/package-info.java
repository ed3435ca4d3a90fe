/**
 * Mails every customer a statement about each closed period: JDBC batches, and a mail
 * provider that recognises idempotency keys.
 */
@NullMarked
package io.github.singletonjob.sample.company.statements;

import org.jspecify.annotations.NullMarked;
