create table first as select to_regclass('singleton_job_lease') as lease, to_regclass('singleton_job') as fence;
