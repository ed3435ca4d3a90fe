package io.github.singletonjob.postgres;

/**
 * The statements of the store. Values are always bound, never written into the text.
 */
final class LeaseSql {

	static final String TABLE = "singleton_job_lease";

	static final String FIRE_TIME_TABLE = "singleton_job_lease_fire_time";

	/**
	 * Decides whether the firing has something to run, takes the advisory lock of the job
	 * and, only if that succeeded, mints the token. All in one statement, so that an
	 * attempt that is contended or has nothing to run is one round trip that writes
	 * nothing and needs no transaction id. {@code materialized} makes the lock function
	 * run exactly once, and {@code case} not at all if there is nothing to run.
	 * <p>
	 * The decision {@code needed} is made of the rows as they were when the statement
	 * began. Between then and the lock, another session may have completed the fire time
	 * and released; it even unlocks before its release is committed. So the upsert of the
	 * fire time decides again: it waits for a writer of the row, and then evaluates its
	 * conditions on the row's latest version. If they do not hold any more, it answers no
	 * row, no token is minted, and the lock is to be given back. The upsert of the lease
	 * can tell in the same way whether the holder before has given its lease back:
	 * {@code released_at} says when, and is kept as null if it has not. A first grant
	 * follows nobody.
	 * <p>
	 * A first token is the server's clock in milliseconds, so that a row that was deleted
	 * does not come back with small numbers.
	 */
	static final String ACQUIRE = """
			with asked (lock_key, namespace, name, owner, holder, floor, schedule, due, finishes_open) as materialized (
				values (?::bigint, ?::text, ?::text, ?::text, ?::text, ?::bigint, ?::text, ?::timestamptz, ?::boolean)),
			known as materialized (
				select a.*, f.completed, clock_timestamp() as server_time,
					coalesce(a.due > clock_timestamp() + interval '5 minutes', false) as early,
					a.schedule is null or (coalesce(a.due > f.completed, true)
						and (coalesce(a.finishes_open and f.started > coalesce(f.completed, '-infinity'), false)
							or coalesce(a.due > coalesce(f.started, '-infinity'), false))) as needed
				from asked a left join singleton_job_lease_fire_time f
					on f.namespace = a.namespace and f.name = a.name and f.schedule = a.schedule),
			taken as materialized (
				select k.*, case when k.needed and not k.early then pg_try_advisory_lock(k.lock_key) end as ok
				from known k),
			begun as (
				insert into singleton_job_lease_fire_time as f (namespace, name, schedule, started, completed, runs)
				select t.namespace, t.name, t.schedule, t.due, null, 1 from taken t where t.ok and t.schedule is not null
				on conflict (namespace, name, schedule) do update set
					started = case when (select a.finishes_open from asked a)
						and f.started > coalesce(f.completed, '-infinity') then f.started else excluded.started end,
					runs = case when (select a.finishes_open from asked a)
						and f.started > coalesce(f.completed, '-infinity') then f.runs + 1 else 1 end
				where coalesce(excluded.started > f.completed, true)
					and (coalesce((select a.finishes_open from asked a)
							and f.started > coalesce(f.completed, '-infinity'), false)
						or coalesce(excluded.started > coalesce(f.started, '-infinity'), false))
				returning f.started, f.completed, f.runs),
			minted as (
				insert into singleton_job_lease as l
					(namespace, name, lock_key, token, owner, holder, granted_at, released_at)
				select t.namespace, t.name, t.lock_key,
					greatest((extract(epoch from clock_timestamp()) * 1000)::bigint, t.floor + 1), t.owner, t.holder,
					clock_timestamp(), '-infinity'
				from taken t left join begun b on true
				where t.ok and (t.schedule is null or b.started is not null)
				on conflict (namespace, name) do update set
					token = greatest(l.token, (select a.floor from asked a)) + 1,
					owner = excluded.owner, holder = excluded.holder, granted_at = excluded.granted_at,
					released_at = case when l.owner is null and l.released_at >= l.granted_at then l.released_at end
				returning l.token, l.released_at is null as follows_unreleased)
			select pg_backend_pid() as backend, t.ok, t.early, t.needed, t.server_time, t.completed as known_completed,
				b.started, b.completed, b.runs, m.token, m.follows_unreleased,
				(select h.holder from singleton_job_lease h
					where not t.ok and h.namespace = t.namespace and h.name = t.name and h.owner is not null) as holder
			from taken t left join begun b on true left join minted m on true""";

	/** Answers at least one row, so that the backend is known even if no row is left. */
	static final String ROWS = """
			select pg_backend_pid() as backend, l.lock_key, l.owner, l.token
			from (values (1)) as one left join singleton_job_lease l on l.lock_key = any (?)""";

	/** Where sessions are told of released leases; what is sent is the lock key. */
	static final String CHANNEL = "singleton_job_lease";

	/**
	 * Marks the row as released, records what was completed, and then unlocks: in this
	 * order, so that an error of the updates leaves the lock to be unlocked on its own,
	 * and so that whoever gets the lock waits for this commit at the rows. Without a fire
	 * time the commit need not wait for the disk: what a crash of the server could undo
	 * is the mark, while the lock is free after it in any case.
	 */
	static final String RELEASE = """
			with ended (namespace, name, owner, token, lock_key, schedule, completed) as materialized (
				values (?::text, ?::text, ?::text, ?::bigint, ?::bigint, ?::text, ?::timestamptz)),
			cleared as (
				update singleton_job_lease l set owner = null, released_at = clock_timestamp()
				from ended e
				where l.namespace = e.namespace and l.name = e.name and l.owner = e.owner and l.token = e.token
				returning e.*),
			recorded as (
				insert into singleton_job_lease_fire_time as f (namespace, name, schedule, started, completed)
				select c.namespace, c.name, c.schedule, c.completed, c.completed from cleared c
				where c.completed is not null
				on conflict (namespace, name, schedule) do update set
					started = greatest(f.started, excluded.started), completed = greatest(f.completed, excluded.completed)
				returning 1)
			select pg_backend_pid() as backend, c.cleared,
				case when e.completed is null then set_config('synchronous_commit', 'off', true) end,
				case when c.cleared then pg_notify('singleton_job_lease', e.lock_key::text) end,
				pg_advisory_unlock(e.lock_key) as unlocked
			from ended e, (select count(*) = 1 as cleared from cleared) c, (select count(*) from recorded) r""";

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
	 * What is known of a job: one row, or one for each schedule. A lock is looked at
	 * after the rows or before; whoever acts on the answer asks for the lease.
	 */
	static final String INSPECT = """
			select pg_backend_pid() as backend, l.token, case when l.owner is not null then l.holder end as holder,
				f.schedule, f.started, f.completed,
				exists (select from pg_locks where locktype = 'advisory' and granted and objsubid = 1
					and database = (select oid from pg_database where datname = current_database())
					and (classid::bigint << 32) | objid::bigint = a.lock_key) as held
			from (values (?::bigint, ?::text, ?::text)) as a (lock_key, namespace, name)
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
	 * does not hear of. A stronger {@code synchronous_commit} than "on" is kept.
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

	/** A watching session that falls silent is of no use to anybody. */
	static final String WATCH_SETTINGS = """
			select set_config('application_name', ?, false),
				set_config('idle_session_timeout', '30000', false),
				set_config('statement_timeout', '2000', false),
				set_config('lock_timeout', '1000', false)""";

	private LeaseSql() {
	}

}
