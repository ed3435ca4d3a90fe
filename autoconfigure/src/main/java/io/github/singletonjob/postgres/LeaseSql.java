package io.github.singletonjob.postgres;

/**
 * The statements of the store. Values are always bound, never written into the text.
 */
final class LeaseSql {

	static final String TABLE = "singleton_job_lease";

	/**
	 * Takes the advisory lock of a job and, only if that succeeded, mints the token. All
	 * in one statement, so that a contended attempt is one round trip that writes nothing
	 * and needs no transaction id. {@code materialized} makes the lock function run
	 * exactly once. A first token is the server's clock in milliseconds, so that a row
	 * that was deleted does not come back with small numbers.
	 */
	static final String ACQUIRE = """
			with taken as materialized (select pg_try_advisory_lock(?) as ok),
			minted as (
				insert into singleton_job_lease as l
					(namespace, name, lock_key, token, owner, holder, granted_at, released_at)
				select ?, ?, ?, greatest((extract(epoch from clock_timestamp()) * 1000)::bigint, ? + 1), ?, ?,
					clock_timestamp(), null
				from taken where ok
				on conflict (namespace, name) do update set
					token = greatest(l.token, ?) + 1, owner = excluded.owner, holder = excluded.holder,
					granted_at = excluded.granted_at, released_at = null
				returning l.token)
			select pg_backend_pid() as backend, taken.ok, minted.token,
				(select h.holder from singleton_job_lease h
					where not taken.ok and h.namespace = ? and h.name = ? and h.owner is not null) as holder
			from taken left join minted on true""";

	/** Answers at least one row, so that the backend is known even if no row is left. */
	static final String ROWS = """
			select pg_backend_pid() as backend, l.lock_key, l.owner, l.token
			from (values (1)) as one left join singleton_job_lease l on l.lock_key = any (?)""";

	/**
	 * Marks the row as released and then unlocks: in this order, so that an error of the
	 * update leaves the lock to be unlocked on its own. This commit alone need not wait
	 * for the disk: the next holder would wait with it, and what a crash of the server
	 * could undo is the mark, while the lock is free after it in any case.
	 */
	static final String RELEASE = """
			with cleared as (
				update singleton_job_lease set owner = null, released_at = clock_timestamp()
				where namespace = ? and name = ? and owner = ? and token = ?
				returning 1)
			select pg_backend_pid() as backend, c.cleared, set_config('synchronous_commit', 'off', true),
				pg_advisory_unlock(?) as unlocked
			from (select count(*) = 1 as cleared from cleared) c""";

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

	private LeaseSql() {
	}

}
