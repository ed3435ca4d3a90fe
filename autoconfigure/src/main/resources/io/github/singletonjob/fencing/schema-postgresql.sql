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

-- Before its first statistics the planner takes a table for ten pages long, and reads this one, which is one, by its index.
ANALYZE singleton_job;
