package io.github.singletonjob.faults;

import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two servers of the billing company, and its books.
 */
final class BillingCompany implements AutoCloseable {

	static final int CUSTOMERS = 40;

	static final Duration TTL = Duration.ofSeconds(2);

	/** What the database says of the commit of a stale run. */
	static final String REFUSED_BY_THE_DATABASE = ".*PSQLException: ERROR: .*the fence does not stand at the token.*";

	private static final Pattern BEGIN = Pattern.compile("SAYS BEGIN (\\d+) @(\\d+)");

	private static final Duration WAIT = Duration.ofSeconds(60);

	private final String jdbcUrl;

	/** Each with the number of lines that it had written before this period. */
	private final Map<JvmProcess, Integer> servers = new LinkedHashMap<>();

	private final Map<JvmProcess, TcpProxy> waysToDatabase = new HashMap<>();

	private int periods;

	BillingCompany() {
		this(PostgresServer.shared().newDatabase());
	}

	BillingCompany(String jdbcUrl) {
		this.jdbcUrl = jdbcUrl;
		execute("create table customer (id int primary key, charges int not null default 0,"
				+ " pauses boolean not null default false)");
		execute("create table charge (id bigserial, customer int not null, token bigint not null, server text not null)");
	}

	private void openPeriod(int pausing) {
		this.servers.replaceAll((server, seen) -> server.lines().size());
		this.periods++;
		execute("insert into customer (id, pauses) select id, id = %d from generate_series(%d, %d) id"
			.formatted(customer(pausing), customer(1), customer(CUSTOMERS)));
	}

	/** The customer of this period with that number, from 1 to {@link #CUSTOMERS}. */
	int customer(int number) {
		return (this.periods - 1) * CUSTOMERS + number;
	}

	String jdbcUrl() {
		return this.jdbcUrl;
	}

	JvmProcess start(String name, String... arguments) {
		return start(BillingProcess.class, name, arguments);
	}

	JvmProcess start(Class<?> main, String name, String... arguments) {
		TcpProxy wayToDatabase = TcpProxy.to(URI.create(this.jdbcUrl.substring("jdbc:".length())).getPort());
		List<String> all = new ArrayList<>(List.of("--server.name=" + name, "--singleton-job.holder=" + name,
				"--spring.datasource.url=" + wayToDatabase.through(this.jdbcUrl),
				"--spring.datasource.username=postgres", "--spring.datasource.hikari.maximum-pool-size=3",
				"--spring.datasource.hikari.minimum-idle=1", "--spring.main.banner-mode=off"));
		all.addAll(List.of(arguments));
		addUnlessGiven(all, "--singleton-job.lease.ttl", TTL.toMillis() + "ms");
		addUnlessGiven(all, "--singleton-job.store", "postgres");
		addUnlessGiven(all, "--singleton-job.namespace", "shop");
		JvmProcess process = JvmProcess.of(main, all.toArray(String[]::new)).echo(name).start();
		this.servers.put(process, 0);
		this.waysToDatabase.put(process, wayToDatabase);
		return process;
	}

	/**
	 * What leads a server to the guarded database. Its leases go that way too, unless
	 * they have one of their own.
	 */
	TcpProxy wayToDatabase(JvmProcess server) {
		return this.waysToDatabase.get(server);
	}

	void resumeAll() {
		this.servers.keySet().stream().filter(JvmProcess::isAlive).forEach(JvmProcess::resume);
	}

	private static void addUnlessGiven(List<String> arguments, String name, String value) {
		if (arguments.stream().noneMatch((argument) -> argument.startsWith(name + "="))) {
			arguments.add(name + "=" + value);
		}
	}

	/**
	 * Waits until every server stands by, then opens the next period, so that there is
	 * something to charge; answers who got the lease.
	 */
	JvmProcess awaitHolder() {
		return awaitHolder(0);
	}

	/** The same, and the transaction that charges one of the customers takes a second. */
	JvmProcess awaitHolderThatPausesAt(int number) {
		return awaitHolder(number);
	}

	private JvmProcess awaitHolder(int pausing) {
		List<JvmProcess> alive = this.servers.keySet().stream().filter(JvmProcess::isAlive).toList();
		alive.forEach((server) -> server.awaitLine("SAYS READY .*", WAIT));
		openPeriod(pausing);
		Awaitility.await().atMost(WAIT).until(() -> alive.stream().anyMatch(this::hasBegun));
		return alive.stream().filter(this::hasBegun).findFirst().orElseThrow();
	}

	JvmProcess other(JvmProcess server) {
		return this.servers.keySet().stream().filter((candidate) -> candidate != server).findFirst().orElseThrow();
	}

	/** Waits until a server has charged the customer with that number in this period. */
	void awaitCharged(JvmProcess server, int number) {
		awaitLine(server, "SAYS CHARGED " + customer(number) + " .*");
	}

	void awaitAllCharged() {
		Awaitility.await().atMost(WAIT).until(() -> customersCharged() == (long) this.periods * CUSTOMERS);
	}

	/** The token of the run that the server has begun, waiting for it if need be. */
	long awaitBegin(JvmProcess server) {
		Matcher begin = BEGIN.matcher(awaitLine(server, BEGIN.pattern()));
		assertThat(begin.matches()).isTrue();
		return Long.parseLong(begin.group(1));
	}

	/** Waits for a line that the server has written since this period was opened. */
	String awaitLine(JvmProcess server, String regex) {
		return server.awaitLineFrom(seen(server), Pattern.compile(regex).asPredicate(), WAIT);
	}

	/** What the server has written since this period was opened. */
	List<String> lines(JvmProcess server) {
		return server.lines().stream().skip(seen(server)).toList();
	}

	private int seen(JvmProcess server) {
		return this.servers.getOrDefault(server, 0);
	}

	/**
	 * When the server wrote the first line of this period that begins so, in milliseconds
	 * since the epoch.
	 */
	long timeOf(JvmProcess server, String text) {
		String line = awaitLine(server, "SAYS " + text + ".*");
		return Long.parseLong(line.substring(line.lastIndexOf('@') + 1));
	}

	private boolean hasBegun(JvmProcess server) {
		return lines(server).stream().anyMatch((line) -> BEGIN.matcher(line).matches());
	}

	void execute(String sql) {
		try (Connection connection = PostgresServer.connect(this.jdbcUrl);
				Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(sql, ex);
		}
	}

	long number(String sql) {
		try (Connection connection = PostgresServer.connect(this.jdbcUrl);
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery(sql)) {
			rows.next();
			return rows.getLong(1);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(sql, ex);
		}
	}

	long customersCharged() {
		return number("select count(distinct customer) from charge");
	}

	long customersChargedTwice() {
		return number("select count(*) from (select customer from charge group by customer having count(*) > 1) d");
	}

	long chargesWithATokenThatWentDown() {
		return number("select count(*) from (select token, lag(token) over (order by id) as previous from charge) c"
				+ " where token < previous");
	}

	/** What must hold whatever happened. */
	void assertBooksAreRight() {
		assertThat(customersChargedTwice()).as("wrong data: customers charged twice").isZero();
		assertThat(customersCharged()).as("wrong data: customers charged").isEqualTo((long) this.periods * CUSTOMERS);
		assertThat(chargesWithATokenThatWentDown()).as("wrong data: tokens that went down").isZero();
		assertThat(number("select count(*) from customer where charges <> 1")).as("wrong data: counts").isZero();
	}

	@Override
	public void close() {
		this.servers.keySet().forEach(JvmProcess::close);
		this.waysToDatabase.values().forEach(TcpProxy::close);
	}

}
