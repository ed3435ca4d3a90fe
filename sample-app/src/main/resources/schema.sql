create table customer (
	id bigint primary key,
	name text not null,
	email text not null,
	monthly_cents bigint not null
);

create table billing_period (
	number bigint primary key,
	opened_at timestamptz not null,
	closed_at timestamptz
);

create table invoice (
	id bigint generated always as identity primary key,
	customer_id bigint not null references customer,
	period bigint not null references billing_period,
	amount_cents bigint not null,
	status text not null,
	token bigint not null
);

create index invoice_period on invoice (period, status);

-- No unique constraint on (customer_id, period), on purpose: it would hide that somebody was charged twice.
create table charge (
	id bigint generated always as identity primary key,
	customer_id bigint not null references customer,
	period bigint not null references billing_period,
	amount_cents bigint not null,
	payment text not null,
	token bigint not null,
	holder text not null,
	charged_at timestamptz not null
);

create index charge_period on charge (period, customer_id);

create table statement (
	customer_id bigint not null references customer,
	period bigint not null references billing_period,
	total_cents bigint not null,
	token bigint not null,
	mailed_at timestamptz,
	-- Without it a late insert would find no row to compare its token with.
	primary key (period, customer_id)
);

create index statement_unmailed on statement (period) where mailed_at is null;
