create table if not exists singleton_job_lease (
	namespace text not null,
	name text not null,
	lock_key bigint not null unique,
	token bigint not null,
	owner text,
	holder text,
	granted_at timestamptz,
	released_at timestamptz,
	primary key (namespace, name)
);

create table if not exists singleton_job_lease_fire_time (
	namespace text not null,
	name text not null,
	schedule text not null,
	started timestamptz,
	completed timestamptz,
	runs integer not null default 1,
	primary key (namespace, name, schedule)
);
