package io.github.singletonjob.sample.company.statements;

/**
 * What a customer has paid in a period.
 *
 * @param customerId the customer
 * @param email where it is sent
 * @param period the period
 * @param totalCents the sum
 */
record Statement(long customerId, String email, long period, long totalCents) {
}
