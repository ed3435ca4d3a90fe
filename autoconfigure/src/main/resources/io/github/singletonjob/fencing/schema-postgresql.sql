-- The fence: one row for each job, with the highest token that has begun to work.
-- It belongs into the database that holds the guarded data, in a schema of the application's search path.
CREATE TABLE IF NOT EXISTS singleton_job (
	namespace text NOT NULL,
	name text NOT NULL,
	token bigint NOT NULL,
	owner text NOT NULL,
	holder text,
	raised_at timestamptz,
	PRIMARY KEY (namespace, name)
);

-- What has run: one row for each schedule of a job. It belongs into the same schema.
CREATE TABLE IF NOT EXISTS singleton_job_fire_time (
	namespace text NOT NULL,
	name text NOT NULL,
	schedule text NOT NULL,
	started timestamptz,
	completed timestamptz,
	token bigint,
	PRIMARY KEY (namespace, name, schedule)
);

-- At REPEATABLE READ and SERIALIZABLE a commit compares its token here. The lock fails if the row has changed since the
-- snapshot. SECURITY DEFINER: a role that a transaction has set needs SELECT on the fence, and no more.
CREATE OR REPLACE FUNCTION singleton_job_stands_at(of_table oid, of_namespace text, of_name text, at_token bigint, at_owner text)
	RETURNS boolean LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path FROM CURRENT AS '
BEGIN
	PERFORM FROM singleton_job f WHERE f.tableoid = of_table AND f.namespace = of_namespace AND f.name = of_name
		AND f.token = at_token AND f.owner = at_owner FOR SHARE;
	RETURN FOUND;
END';

-- Before its first statistics the planner takes a table for ten pages long, and reads this one, which is one, by its index.
ANALYZE singleton_job;
