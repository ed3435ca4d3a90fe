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
