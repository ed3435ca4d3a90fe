package io.github.singletonjob.sample.company.billing;

import org.springframework.data.repository.Repository;

/**
 * All entries of charges in the books.
 */
interface Charges extends Repository<Charge, Long> {

	Charge save(Charge charge);

}
