package io.github.singletonjob.fencing;

/**
 * The statements of {@link JdbcFence}. The first placeholder of each is the name of the
 * table with its schema, the second that of the fire times'.
 */
final class FenceSql {

	/**
	 * Bounds of one transaction, and the lock of the job's fence: time-outs in
	 * milliseconds. The last one is for a process that is frozen here, with the lock.
	 */
	static final String SET_UP = """
			set transaction isolation level read committed;
			set local synchronous_commit = on;
			set local lock_timeout = %d;
			set local statement_timeout = %d;
			set local idle_in_transaction_session_timeout = %d;
			select pg_catalog.%s(%d)""";

	/**
	 * As a statement of its own, after which those that follow see what it waited for.
	 */
	static final String EXCLUSIVE = "pg_advisory_xact_lock";

	static final String SHARED = "pg_advisory_xact_lock_shared";

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
	 * Under the exclusive lock of the raise. A fire time never goes back, and an unknown
	 * one changes nothing.
	 */
	static final String START = """
			insert into %2$s as f (namespace, name, schedule, started, completed, token) values (?, ?, ?, ?, ?, ?)
			on conflict (namespace, name, schedule) do update set token = excluded.token,
				started = greatest(f.started, excluded.started), completed = greatest(f.completed, excluded.completed)""";

	/** Under the shared lock, as fenced transactions. */
	static final String COMPLETE = """
			insert into %2$s as f (namespace, name, schedule, started, completed)
			select o.namespace, o.name, c.schedule, c.completed, c.completed
			from %1$s o, (values (?::text, ?::timestamptz)) as c (schedule, completed)
			where o.namespace = ? and o.name = ? and o.token = ? and o.owner = ?
			on conflict (namespace, name, schedule) do update set
				started = greatest(f.started, excluded.started), completed = greatest(f.completed, excluded.completed)""";

	private FenceSql() {
	}

}
