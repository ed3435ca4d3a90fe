package io.github.singletonjob.fencing;

/**
 * The statements of {@link JdbcFence}. The first placeholder of each is the name of the
 * table with its schema, the second that of the fire times'.
 */
final class FenceSql {

	/**
	 * Bounds of one transaction: time-outs in milliseconds. The last one is for a process
	 * that is frozen here, with the row locked.
	 */
	static final String SET_UP = """
			set transaction isolation level read committed;
			set local synchronous_commit = on;
			set local lock_timeout = %d;
			set local statement_timeout = %d;
			set local idle_in_transaction_session_timeout = %d""";

	static final String RAISE = """
			insert into %s as f (namespace, name, token, owner, holder, raised_at)
			values (?, ?, ?, ?, ?, pg_catalog.clock_timestamp())
			on conflict (namespace, name) do update set token = excluded.token, owner = excluded.owner,
				holder = excluded.holder, raised_at = excluded.raised_at
			where f.token < excluded.token or (f.token = excluded.token and f.owner = excluded.owner)
			returning f.token""";

	static final String SEEN = "select token from %s where namespace = ? and name = ?";

	/** The clock, if a fire time is too far ahead of it. */
	static final String EARLY = """
			select pg_catalog.clock_timestamp() where ?::timestamptz > pg_catalog.clock_timestamp() + ?::interval""";

	static final String FIRE_TIMES = """
			select schedule, started, completed from %2$s where namespace = ? and name = ?""";

	/** Also answers whether it was started under this token, which is a repetition. */
	static final String FIRE_TIME = """
			select started, completed, coalesce(token = ?, false) as repeated from %2$s
			where namespace = ? and name = ? and schedule = ?""";

	/**
	 * Under the lock of the fence row that the raise has taken. A fire time never goes
	 * back, and an unknown one changes nothing.
	 */
	static final String START = """
			insert into %2$s as f (namespace, name, schedule, started, completed, token) values (?, ?, ?, ?, ?, ?)
			on conflict (namespace, name, schedule) do update set token = excluded.token,
				started = greatest(f.started, excluded.started), completed = greatest(f.completed, excluded.completed)""";

	/** Waits for a raise, as fenced transactions do, and then looks at its row. */
	static final String COMPLETE = """
			with ours as (
				select namespace, name from %1$s
				where namespace = ? and name = ? and token = ? and owner = ? for share)
			insert into %2$s as f (namespace, name, schedule, started, completed)
			select o.namespace, o.name, c.schedule, c.completed, c.completed
			from ours o, (values (?::text, ?::timestamptz)) as c (schedule, completed)
			on conflict (namespace, name, schedule) do update set
				started = greatest(f.started, excluded.started), completed = greatest(f.completed, excluded.completed)""";

	private FenceSql() {
	}

}
