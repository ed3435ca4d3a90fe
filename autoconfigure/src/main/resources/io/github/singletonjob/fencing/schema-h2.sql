-- The fence: one row for each job, with the highest token that has begun to work.
-- It belongs into the database that holds the guarded data, in the schema that the application's connections begin in.
CREATE TABLE IF NOT EXISTS singleton_job (
	namespace varchar NOT NULL,
	name varchar NOT NULL,
	token bigint NOT NULL,
	owner varchar NOT NULL,
	holder varchar,
	raised_at timestamp(3) with time zone,
	PRIMARY KEY (namespace, name)
);

-- What has run: one row for each schedule of a job, in milliseconds since 1970. It belongs into the same schema.
CREATE TABLE IF NOT EXISTS singleton_job_fire_time (
	namespace varchar NOT NULL,
	name varchar NOT NULL,
	schedule varchar NOT NULL,
	started bigint,
	completed bigint,
	token bigint,
	PRIMARY KEY (namespace, name, schedule)
);
