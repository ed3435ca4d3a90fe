package io.github.singletonjob.sample.company.billing;

import java.util.Optional;

import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/**
 * All billing periods.
 */
interface BillingPeriods extends Repository<BillingPeriod, Long> {

	Optional<BillingPeriod> findFirstByClosedAtIsNullOrderByNumber();

	BillingPeriod getByNumber(long number);

	BillingPeriod save(BillingPeriod period);

	@Query("select coalesce(max(p.number), 0) from BillingPeriod p")
	long lastNumber();

}
