package io.github.singletonjob.sample.demo;

import java.util.List;
import java.util.Optional;

import javax.sql.DataSource;

import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Reads the company's books. The demo believes them and nothing else: not what a server
 * says about itself.
 */
class Ledger {

	private static final String SUMMARIES = """
			select i.period, p.closed_at is not null as closed, count(*) as customers,
				count(*) filter (where c.charges = 1) as once,
				count(*) filter (where c.charges > 1) as repeatedly
			from invoice i
			join billing_period p on p.number = i.period
			left join (select period, customer_id, count(*) as charges from charge group by 1, 2) c
				on c.period = i.period and c.customer_id = i.customer_id
			where i.period > (select coalesce(max(number), 0) from billing_period) - :last
			group by i.period, p.closed_at
			order by i.period
			""";

	private final JdbcClient jdbc;

	Ledger(DataSource database) {
		this.jdbc = JdbcClient.create(database);
	}

	/**
	 * How far the billing is.
	 * @return the state at the newest charge, or empty before the first
	 */
	Optional<Progress> progress() {
		return this.jdbc.sql("""
				select c.period, c.token, c.holder,
					(select count(distinct customer_id) from charge where period = c.period) as charged,
					(select count(*) from invoice where period = c.period) as customers
				from charge c
				order by c.id desc
				limit 1
				""").query(Progress.class).optional();
	}

	/**
	 * Counts who was charged how often.
	 * @param last how many of the newest periods
	 * @return one summary for each, oldest first
	 */
	List<PeriodSummary> summaries(int last) {
		return this.jdbc.sql(SUMMARIES).param("last", last).query(PeriodSummary.class).list();
	}

	/**
	 * Counts charges that were accepted from a run although a newer one had begun.
	 * @param token the token of the older run
	 * @return zero if the fence holds
	 */
	long acceptedTooLate(long token) {
		return this.jdbc.sql("""
				select count(*) from charge
				where token = :token and id > (select min(id) from charge where token > :token)
				""").param("token", token).query(Long.class).single();
	}

	/**
	 * Counts customers who were charged more than once for a period.
	 * @return zero if the fence holds
	 */
	long chargedTwice() {
		return this.jdbc.sql("""
				select count(*) from (select 1 from charge group by period, customer_id having count(*) > 1) twice
				""").query(Long.class).single();
	}

	/**
	 * Counts statements that were written more than once for a customer and period.
	 * @return zero if the fence holds
	 */
	long statementsTwice() {
		return this.jdbc.sql("""
				select count(*) from (select 1 from statement group by period, customer_id having count(*) > 1) twice
				""").query(Long.class).single();
	}

}
