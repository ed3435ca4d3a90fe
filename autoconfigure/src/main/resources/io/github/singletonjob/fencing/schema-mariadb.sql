-- The fence: one row for each job, with the highest token that has begun to work.
-- It belongs into the database that holds the guarded data.
CREATE TABLE IF NOT EXISTS singleton_job (
	namespace varchar(300) NOT NULL,
	name varchar(300) NOT NULL,
	token bigint NOT NULL,
	owner varchar(255) NOT NULL,
	holder text,
	raised_at timestamp(3) NULL,
	PRIMARY KEY (namespace, name)
) ENGINE = InnoDB, CHARACTER SET utf8mb4, COLLATE utf8mb4_nopad_bin;

-- What has run: one row for each schedule of a job, in milliseconds since 1970. Cron expressions and zones are ASCII.
CREATE TABLE IF NOT EXISTS singleton_job_fire_time (
	namespace varchar(300) NOT NULL,
	name varchar(300) NOT NULL,
	schedule varchar(600) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
	started bigint,
	completed bigint,
	token bigint,
	PRIMARY KEY (namespace, name, schedule)
) ENGINE = InnoDB, CHARACTER SET utf8mb4, COLLATE utf8mb4_nopad_bin;
