package io.github.singletonjob.postgres;

/**
 * The statements of the store. Values are always bound, never written into the text.
 */
final class LeaseSql {

	static final String TABLE = "singleton_job_lease";

	static final String FIRE_TIME_TABLE = "singleton_job_lease_fire_time";

	/**
	 * What both statements below begin with: what is asked, what is known, and the lock.
	 */
	private static final String DECIDE = """
			with asked as materialized (
				select * from unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[],
					?::timestamptz[], ?::boolean[], ?::bigint[]) with ordinality
					as a (lock_key, namespace, name, owner, holder, floor, schedule, due, finishes_open, seen, position)),
			known as materialized (
				select a.*, f.completed, l.token as last_token, case when l.owner is not null then l.holder end as last_holder,
					clock_timestamp() as server_time,
					coalesce(a.due > clock_timestamp() + interval '5 minutes', false) as early,
					a.schedule is null or (coalesce(a.due > f.completed, true)
						and (coalesce(a.finishes_open and f.started > coalesce(f.completed, '-infinity'), false)
							or coalesce(a.due > coalesce(f.started, '-infinity'), false))) as needed
				from asked a
					left join singleton_job_lease l on l.namespace = a.namespace and l.name = a.name
					left join singleton_job_lease_fire_time f
						on f.namespace = a.namespace and f.name = a.name and f.schedule = a.schedule),
			taken as materialized (
				select k.*, case when not k.needed or k.early then null
					when :locks then pg_try_advisory_lock(k.lock_key) else true end as ok
				from known k)
			""";

	/** The columns of both. */
	private static final String DECISION = """
			select pg_backend_pid() as backend, t.position, t.ok, t.early, t.needed, t.server_time,
				t.completed as known_completed, t.last_token, t.last_holder
			""";

	/**
	 * Decides for each request whether its firing has something to run, takes the
	 * advisory lock of the job, and mints the token; which of the last two is written
	 * into it. A request that is contended or has nothing to run is one round trip that
	 * writes nothing and needs no transaction id. {@code materialized} makes the lock
	 * function run exactly once, and {@code case} not at all if there is nothing to run.
	 * <p>
	 * The decision {@code needed} is made of the rows as they were when the statement
	 * began. Between then and the lock, another session may have completed the fire time
	 * and released; it even unlocks before its release is committed. So the upsert of the
	 * fire time decides again: it waits for a writer of the row, and then evaluates its
	 * conditions on the row's latest version. If they do not hold any more, it answers no
	 * row and no token is minted. The upsert of the lease can tell in the same way
	 * whether the holder before has given its lease back: {@code released_at} says when,
	 * and is kept as null if it has not. A first grant follows nobody.
	 * <p>
	 * Where the lock belongs to another session than the one that mints, that session may
	 * have lost it. So the token must still be the one that was {@code seen} under the
	 * lock: {@code confirmed} locks the row and compares. Whoever got the lock since then
	 * has minted, and nothing is written.
	 * <p>
	 * A token is at least the server's clock in milliseconds, so that a row that was
	 * deleted, or a server that was restored, does not come back with small numbers.
	 */
	private static final String ACQUIRE = DECIDE + """
			,
			confirmed as materialized (
				select l.lock_key from taken t join singleton_job_lease l
					on l.namespace = t.namespace and l.name = t.name and l.token = t.seen
				where :compares and t.ok
				order by l.lock_key for update of l),
			ready as materialized (
				select t.* from taken t
				where :mints and t.ok and (not :compares or t.seen is null
					or t.lock_key in (select c.lock_key from confirmed c))
				order by t.lock_key),
			begun as (
				insert into singleton_job_lease_fire_time as f (namespace, name, schedule, started, completed, runs)
				select r.namespace, r.name, r.schedule, r.due, null, 1 from ready r where r.schedule is not null
				on conflict (namespace, name, schedule) do update set
					started = case when f.started > coalesce(f.completed, '-infinity') and (select a.finishes_open
						from asked a where a.namespace = excluded.namespace and a.name = excluded.name)
						then f.started else excluded.started end,
					runs = case when f.started > coalesce(f.completed, '-infinity') and (select a.finishes_open
						from asked a where a.namespace = excluded.namespace and a.name = excluded.name)
						then f.runs + 1 else 1 end
				where coalesce(excluded.started > f.completed, true)
					and (coalesce(f.started > coalesce(f.completed, '-infinity') and (select a.finishes_open
							from asked a where a.namespace = excluded.namespace and a.name = excluded.name), false)
						or coalesce(excluded.started > coalesce(f.started, '-infinity'), false))
				returning f.namespace, f.name, f.started, f.completed, f.runs),
			minted as (
				insert into singleton_job_lease as l
					(namespace, name, lock_key, token, owner, holder, granted_at, released_at)
				select r.namespace, r.name, r.lock_key, greatest((extract(epoch from clock_timestamp()) * 1000)::bigint,
					r.floor + 1, r.seen + 1), r.owner, r.holder, clock_timestamp(), '-infinity'
				from ready r left join begun b on b.namespace = r.namespace and b.name = r.name
				where r.schedule is null or b.name is not null
				on conflict (namespace, name) do update set
					token = greatest(l.token + 1, excluded.token),
					owner = excluded.owner, holder = excluded.holder, granted_at = excluded.granted_at,
					released_at = case when l.owner is null and l.released_at >= l.granted_at then l.released_at end
				where not :compares
					or l.token = (select a.seen from asked a where a.lock_key = excluded.lock_key)
				returning l.lock_key, l.token, l.released_at is null as follows_unreleased)
			""" + DECISION + """
			, b.started, b.completed, b.runs, m.token, m.follows_unreleased
			from taken t left join begun b on b.namespace = t.namespace and b.name = t.name
				left join minted m on m.lock_key = t.lock_key""";

	/**
	 * The same without minting: a much smaller plan, for those that will lose, and for
	 * sessions that must not write.
	 */
	private static final String LOCK = DECIDE + DECISION + "from taken t";

	/** Answers at least one row, so that the backend is known even if no row is left. */
	static final String ROWS = """
			select pg_backend_pid() as backend, l.lock_key, l.owner, l.token
			from (values (1)) as one left join singleton_job_lease l on l.lock_key = any (?)""";

	/** Where sessions are told of released leases; what is sent is the lock key. */
	static final String CHANNEL = "singleton_job_lease";

	/**
	 * Marks rows as released, records what was completed, and then, on the session that
	 * has the locks, unlocks: in this order, so that an error of the updates leaves the
	 * locks to be unlocked on their own, and so that whoever gets a lock waits for this
	 * commit at the rows. What was marked by another session already is only unlocked.
	 * <p>
	 * Without a fire time the commit need not wait for the disk: what a crash of the
	 * server could undo is the mark, while the lock is free after it in any case.
	 */
	private static final String RELEASE = """
			with ended as materialized (
				select * from unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::timestamptz[],
					?::boolean[]) with ordinality
					as e (namespace, name, owner, token, lock_key, schedule, completed, marked, position)),
			cleared as (
				update singleton_job_lease l set owner = null, released_at = clock_timestamp()
				from ended e
				where not e.marked and l.namespace = e.namespace and l.name = e.name and l.owner = e.owner
					and l.token = e.token
				returning e.*),
			recorded as (
				insert into singleton_job_lease_fire_time as f (namespace, name, schedule, started, completed)
				select c.namespace, c.name, c.schedule, c.completed, c.completed from cleared c
				where c.completed is not null order by c.lock_key
				on conflict (namespace, name, schedule) do update set
					started = greatest(f.started, excluded.started), completed = greatest(f.completed, excluded.completed)
				returning 1),
			written as materialized (
				select (select count(*) from cleared) + (select count(*) from recorded) as rows,
					case when not exists (select from ended where completed is not null)
						then set_config('synchronous_commit', 'off', true) end)
			select pg_backend_pid() as backend, e.position, e.marked or c.position is not null as cleared,
				case when :unlocks then pg_advisory_unlock(e.lock_key) end as unlocked,
				case when :unlocks and (e.marked or c.position is not null)
					then pg_notify('singleton_job_lease', e.lock_key::text) end
			from written w cross join ended e left join cleared c on c.position = e.position
			where w.rows >= 0""";

	/** Records what was completed while the lease is ours, and keeps the lease. */
	static final String COMPLETE = """
			with ours as (
				select l.namespace, l.name from singleton_job_lease l
				where l.namespace = ? and l.name = ? and l.owner = ? and l.token = ? for share),
			recorded as (
				insert into singleton_job_lease_fire_time as f (namespace, name, schedule, started, completed)
				select o.namespace, o.name, c.schedule, c.completed, c.completed
				from ours o, (values (?::text, ?::timestamptz)) as c (schedule, completed)
				on conflict (namespace, name, schedule) do update set
					started = greatest(f.started, excluded.started), completed = greatest(f.completed, excluded.completed)
				returning 1)
			select pg_backend_pid() as backend, count(*) = 1 as recorded from recorded""";

	/**
	 * What is known of jobs: for each, one row or one for each schedule. Rows and locks
	 * are not read atomically; only an attempt to get the lease decides.
	 */
	static final String INSPECT = """
			with locked as materialized (
				select (classid::bigint << 32) | objid::bigint as lock_key from pg_locks
				where locktype = 'advisory' and granted and objsubid = 1
				and database = (select oid from pg_database where datname = current_database()))
			select pg_backend_pid() as backend, a.position, l.token, case when l.owner is not null then l.holder end as holder,
				f.schedule, f.started, f.completed, a.lock_key in (select lock_key from locked) as held
			from unnest(?::bigint[], ?::text[], ?::text[]) with ordinality as a (lock_key, namespace, name, position)
				left join singleton_job_lease l on l.namespace = a.namespace and l.name = a.name
				left join singleton_job_lease_fire_time f on f.namespace = a.namespace and f.name = a.name""";

	/**
	 * Clears the row of a lease that is held under a token, so that its holder's next
	 * renewal sees that it is gone and unlocks.
	 */
	static final String REVOKE = """
			with revoked as (
				update singleton_job_lease l set owner = null
				where l.namespace = ? and l.name = ? and l.token = ? and l.owner is not null
				and exists (select from pg_locks where locktype = 'advisory' and granted and objsubid = 1
					and database = (select oid from pg_database where datname = current_database())
					and (classid::bigint << 32) | objid::bigint = l.lock_key)
				returning 1)
			select pg_backend_pid() as backend, count(*) = 1 as revoked from revoked""";

	/**
	 * Unlocks one key if this session has it; answers a row only then. Never
	 * {@code pg_advisory_unlock_all}, which would end the other leases of the session.
	 */
	static final String UNLOCK_IF_HELD = """
			select pg_advisory_unlock(?) from pg_locks
			where locktype = 'advisory' and pid = pg_backend_pid() and granted and objsubid = 1
			and database = (select oid from pg_database where datname = current_database())
			and (classid::bigint << 32) | objid::bigint = ?""";

	/**
	 * {@code idle_session_timeout} is the lease: the server itself ends a session that it
	 * does not hear of. A stronger {@code synchronous_commit} than "on" is kept. The
	 * statements are planned once, and for tables of any size.
	 */
	static final String SETTINGS = """
			select pg_backend_pid() as backend,
				set_config('application_name', ?, false),
				set_config('idle_session_timeout', ?, false),
				set_config('idle_in_transaction_session_timeout', ?, false),
				set_config('statement_timeout', ?, false),
				set_config('lock_timeout', ?, false),
				set_config('default_transaction_isolation', 'read committed', false),
				set_config('default_transaction_read_only', 'off', false),
				set_config('plan_cache_mode', 'force_generic_plan', false),
				set_config('enable_seqscan', 'off', false), set_config('enable_hashjoin', 'off', false),
				set_config('enable_mergejoin', 'off', false), set_config('jit', 'off', false),
				set_config('synchronous_commit', case current_setting('synchronous_commit')
					when 'remote_apply' then 'remote_apply' else 'on' end, false)""";

	/**
	 * Lets the server notice during a statement that the client is gone. Not every
	 * platform can do that.
	 */
	static final String CHECK_FOR_CLIENT = "select set_config('client_connection_check_interval', ?, false)";

	/** Which keys of many somebody holds. */
	static final String HELD = """
			select distinct (classid::bigint << 32) | objid::bigint from pg_locks
			where locktype = 'advisory' and granted and objsubid = 1
			and database = (select oid from pg_database where datname = current_database())
			and (classid::bigint << 32) | objid::bigint = any (?)""";

	/**
	 * Ends a backend whose reply did not come, and tells what it was waiting for. Only a
	 * session of the same instance, so that a number that was given out again does not
	 * matter.
	 */
	static final String END_BACKEND = """
			select a.wait_event_type, a.wait_event, a.state, pg_terminate_backend(a.pid)
			from pg_stat_activity a where a.pid = ? and a.application_name = ?""";

	/** A watching session that falls silent is of no use to anybody. */
	static final String WATCH_SETTINGS = """
			select set_config('application_name', ?, false),
				set_config('idle_session_timeout', '30000', false),
				set_config('statement_timeout', '2000', false),
				set_config('lock_timeout', '1000', false)""";

	private LeaseSql() {
	}

	/**
	 * The statement for a step on the way to a lease. What it does is written into it, so
	 * that its plan has nothing else.
	 * @param one whether it is for one request, rather than for any number
	 */
	static String acquire(boolean locks, boolean mints, boolean compares, boolean one) {
		String statement = (mints ? ACQUIRE : LOCK).replace(":locks", Boolean.toString(locks))
			.replace(":mints", Boolean.toString(mints))
			.replace(":compares", Boolean.toString(compares));
		return one ? forOne(statement) : statement;
	}

	/**
	 * The statement that releases.
	 * @param unlocks whether the session has the locks
	 * @param one whether it is for one request, rather than for any number
	 */
	static String release(boolean unlocks, boolean one) {
		String statement = RELEASE.replace(":unlocks", Boolean.toString(unlocks));
		return one ? forOne(statement) : statement;
	}

	/**
	 * A statement for several requests made one for a single one, which takes values
	 * instead of arrays: that is cheaper.
	 */
	private static String forOne(String statement) {
		int begin = statement.indexOf("unnest(");
		int end = statement.indexOf("with ordinality", begin);
		String values = statement.substring(begin, end)
			.replace("unnest(", "(values (")
			.replace("timestamptz[]", "text::timestamptz")
			.replace("[]", "")
			.stripTrailing();
		return statement.substring(0, begin) + values.substring(0, values.length() - 1) + ", 1::bigint))"
				+ statement.substring(end + "with ordinality".length());
	}

}
