package io.github.singletonjob.sample.company.billing;

import java.util.List;

import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/**
 * All invoices.
 */
interface Invoices extends Repository<Invoice, Long> {

	/**
	 * Writes an invoice for every customer.
	 * @param period the period to bill
	 * @return the number of invoices
	 */
	@Modifying
	@Query(nativeQuery = true, value = """
			insert into invoice (customer_id, period, amount_cents, status, token)
			select id, :period, monthly_cents, 'OPEN', 0 from customer
			""")
	int openForEveryCustomer(long period);

	List<Invoice> findByPeriodAndStatusOrderByCustomerId(long period, Invoice.Status status);

	Invoice getById(long id);

}
