package io.github.singletonjob.chaos;

import java.time.Duration;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Waits until the faults of a run are over for everybody: all servers are up, the job
 * goes on, no body of an older run is still at work, no fire time is open.
 */
final class Recovery {

	private static final Duration POLL = Duration.ofMillis(100);

	private static final Duration LAST_STOP = Duration.ofSeconds(20);

	/** Longer than a commit takes. */
	private static final Duration COMMITTED = Duration.ofMillis(300);

	private final Company company;

	private final Books.Mark mark;

	private final long since = System.currentTimeMillis();

	private long settled = Long.MAX_VALUE;

	Recovery(Company company, Books.Mark mark) {
		this.company = company;
		this.mark = mark;
	}

	/**
	 * Waits.
	 * @param atMost how long
	 * @return whether it is so
	 */
	boolean await(Duration atMost) {
		try {
			Awaitility.await()
				.pollInSameThread()
				.pollInterval(POLL)
				.atMost(atMost)
				.ignoreExceptionsMatching((ex) -> ex instanceof IllegalStateException)
				.until(this::isOver);
			return true;
		}
		catch (ConditionTimeoutException ex) {
			return false;
		}
		finally {
			this.company.seats().forEach((seat) -> seat.dismissFormer(LAST_STOP));
		}
	}

	/** Until when all that was begun is known to have been completed. */
	long settled() {
		return this.settled;
	}

	private boolean isOver() {
		this.company.seats().forEach(Seat::restartIfEnded);
		return this.company.seats().stream().allMatch(Seat::isReady) && goesOn() && olderBodies() == 0
				&& openFireTimes() == 0;
	}

	private boolean goesOn() {
		return this.company.books()
			.number("select count(*) from history where job = 'billing' and kind = 'BEGIN' and at > " + this.since) > 0;
	}

	/** How many bodies still work though a newer one has begun. */
	private long olderBodies() {
		String servers = this.company.seats()
			.stream()
			.map((seat) -> "'" + seat.server() + "'")
			.collect(Collectors.joining(","));
		return this.company.books()
			.number("select count(*) from diary b where b.id >= " + this.mark.diary() + " and b.kind = 'BODY'"
					+ " and b.server in (" + servers + ") and not exists (select 1 from diary e where e.kind = 'ENDED'"
					+ " and e.id >= b.id and e.job = b.job and e.token = b.token) and exists (select 1 from diary n"
					+ " where n.kind = 'BODY' and n.job = b.job and n.token > b.token and n.id >= " + this.mark.diary()
					+ ")");
	}

	private long openFireTimes() {
		this.settled = System.currentTimeMillis() - COMMITTED.toMillis();
		return this.company.books()
			.number("select count(*) from (select fire_time from history where id >= " + this.mark.history()
					+ " and job = 'statements' and kind = 'BEGIN' union select detail from diary where id >= "
					+ this.mark.diary() + " and job = 'statements' and kind = 'GRANTED') b where not exists"
					+ " (select 1 from history e where e.job = 'statements' and e.kind = 'END'"
					+ " and e.fire_time = b.fire_time and e.id > " + this.mark.history() + " - 1000)");
	}

}
