package io.github.singletonjob.faults;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

	private static final Pattern BEGIN = Pattern.compile("SAYS BEGIN (\\d+) @(\\d+)");

	private static final Duration START = Duration.ofSeconds(60);

	private final String jdbcUrl;

	private final List<JvmProcess> servers = new ArrayList<>();

	BillingCompany() {
		this(PostgresServer.shared().newDatabase());
	}

	BillingCompany(String jdbcUrl) {
		this.jdbcUrl = jdbcUrl;
		execute("create table customer (id int primary key, charges int not null default 0)");
		execute("create table charge (id bigserial, customer int not null, token bigint not null, server text not null)");
	}

	/** From here on there is something to charge. */
	void openPeriod() {
		execute("insert into customer (id) select generate_series(1, " + CUSTOMERS + ")");
	}

	String jdbcUrl() {
		return this.jdbcUrl;
	}

	JvmProcess start(String name, String... arguments) {
		return start(BillingProcess.class, name, arguments);
	}

	JvmProcess start(Class<?> main, String name, String... arguments) {
		return launch(main, name, this.jdbcUrl, arguments);
	}

	JvmProcess startBehind(TcpProxy proxy, String name, String... arguments) {
		return launch(BillingProcess.class, name, proxy.through(this.jdbcUrl), arguments);
	}

	private JvmProcess launch(Class<?> main, String name, String guardedUrl, String... arguments) {
		List<String> all = new ArrayList<>(List.of("--server.name=" + name, "--singleton-job.holder=" + name,
				"--spring.datasource.url=" + guardedUrl, "--spring.datasource.username=postgres",
				"--spring.datasource.hikari.maximum-pool-size=3", "--spring.datasource.hikari.minimum-idle=1",
				"--spring.main.banner-mode=off"));
		all.addAll(List.of(arguments));
		addUnlessGiven(all, "--singleton-job.lease.ttl", TTL.toMillis() + "ms");
		addUnlessGiven(all, "--singleton-job.store", "postgres");
		addUnlessGiven(all, "--singleton-job.namespace", "shop");
		JvmProcess process = JvmProcess.of(main, all.toArray(String[]::new))
			.option("-XX:TieredStopAtLevel=1")
			.echo(name)
			.start();
		this.servers.add(process);
		return process;
	}

	private static void addUnlessGiven(List<String> arguments, String name, String value) {
		if (arguments.stream().noneMatch((argument) -> argument.startsWith(name + "="))) {
			arguments.add(name + "=" + value);
		}
	}

	/**
	 * Waits until every server stands by, then opens the period; answers who got the
	 * lease.
	 */
	JvmProcess awaitHolder() {
		this.servers.forEach((server) -> server.awaitLine("SAYS READY .*", START));
		openPeriod();
		Awaitility.await().atMost(START).until(() -> this.servers.stream().anyMatch(BillingCompany::hasBegun));
		return this.servers.stream().filter(BillingCompany::hasBegun).findFirst().orElseThrow();
	}

	JvmProcess other(JvmProcess server) {
		return this.servers.stream().filter((candidate) -> candidate != server).findFirst().orElseThrow();
	}

	void awaitAllCharged() {
		Awaitility.await().atMost(START).until(() -> customersCharged() == CUSTOMERS);
	}

	/** The token of the run that the server has begun, waiting for it if need be. */
	static long awaitBegin(JvmProcess server) {
		return Long.parseLong(parse(server.awaitLine(BEGIN.pattern(), START), 1));
	}

	/**
	 * When the server wrote the first line that begins so, in milliseconds since the
	 * epoch.
	 */
	static long timeOf(JvmProcess server, String text) {
		String line = server.awaitLine("SAYS " + text + ".*", START);
		return Long.parseLong(line.substring(line.lastIndexOf('@') + 1));
	}

	private static String parse(String line, int group) {
		Matcher matcher = BEGIN.matcher(line);
		if (!matcher.matches()) {
			throw new IllegalStateException(line);
		}
		return matcher.group(group);
	}

	private static boolean hasBegun(JvmProcess server) {
		return server.lines().stream().anyMatch((line) -> BEGIN.matcher(line).matches());
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
		assertThat(customersChargedTwice()).as("customers charged twice").isZero();
		assertThat(customersCharged()).as("customers charged").isEqualTo(CUSTOMERS);
		assertThat(chargesWithATokenThatWentDown()).as("tokens that went down").isZero();
		assertThat(number("select count(*) from customer where charges <> 1")).as("wrong counts").isZero();
	}

	@Override
	public void close() {
		this.servers.forEach(JvmProcess::close);
	}

}
