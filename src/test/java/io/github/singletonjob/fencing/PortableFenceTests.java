package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.Fence.Completion;
import io.github.singletonjob.lease.Fence.FenceAnswer;
import io.github.singletonjob.lease.Fence.Raised;
import io.github.singletonjob.lease.Fence.Refused;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The fence where the client decides: H2 and MariaDB.
 */
@Timeout(120)
class PortableFenceTests {

	private GuardedDatabase database;

	@AfterEach
	void close() {
		if (this.database != null) {
			this.database.close();
		}
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void theHolderCommits(PortableDatabase kind) throws SQLException {
		FakeRun run = begin(kind);
		this.database.inTransaction(run, (connection) -> {
			GuardedDatabase.insert(connection, 1);
			connection.commit();
			GuardedDatabase.insert(connection, 2);
			connection.setAutoCommit(true);
		});
		assertThat(this.database.invoices()).isEqualTo(2);
		assertThat(run.refusal()).isNull();
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aHolderThatWasOvertakenCannotCommit(PortableDatabase kind) throws SQLException {
		FakeRun stale = begin(kind);
		this.database.inTransaction(stale, (connection) -> {
			GuardedDatabase.insert(connection, 1);
			this.database.begin("billing", 34);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit)
				.withMessageStartingWith(
						"billing: the database refused token 33: holder holder-34 has token 34 since 20")
				.withMessageEndingWith("; the transaction was rolled back, nothing of it was written")
				.satisfies((ex) -> assertThat(stale.refusal()).isSameAs(ex));
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> {
				GuardedDatabase.insert(connection, 2);
				connection.commit();
			});
		});
		assertThat(this.database.invoices()).isZero();
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aSnapshotFromBeforeTheTakeoverIsRefused(PortableDatabase kind) throws SQLException {
		FakeRun stale = begin(kind);
		this.database.in(stale, (connection) -> {
			connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			connection.setAutoCommit(false);
			GuardedDatabase.execute(connection, "select token from singleton_job");
			this.database.begin("billing", 34);
			GuardedDatabase.insert(connection, 1);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit);
		});
		assertThat(this.database.invoices()).isZero();
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aStatementWithoutATransactionIsRefusedToo(PortableDatabase kind) throws SQLException {
		FakeRun stale = begin(kind);
		this.database.in(stale, (connection) -> GuardedDatabase.insert(connection, 1));
		this.database.begin("billing", 34);
		this.database.in(stale, (connection) -> assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> GuardedDatabase.insert(connection, 2)));
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aTokenOfTheSameNumberFromAnotherGrantIsRefused(PortableDatabase kind) throws SQLException {
		FakeRun run = begin(kind);
		this.database.outside().sql("update singleton_job set owner = 'somebody'").update();
		this.database.inTransaction(run, (connection) -> {
			GuardedDatabase.insert(connection, 1);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit)
				.withMessageContaining("has that token by another grant");
		});
		assertThat(this.database.invoices()).isZero();
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aFenceRowThatWasDeletedRefuses(PortableDatabase kind) throws SQLException {
		FakeRun run = begin(kind);
		this.database.outside().sql("delete from singleton_job").update();
		this.database.inTransaction(run, (connection) -> {
			GuardedDatabase.insert(connection, 1);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit)
				.withMessageContaining("is missing (deleted or truncated)");
		});
		assertThat(this.database.invoices()).isZero();
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void everyRunAroundATransactionIsChecked(PortableDatabase kind) throws SQLException {
		FakeRun outer = begin(kind);
		FakeRun inner = this.database.begin("statements", 7).inside(outer);
		this.database.inTransaction(inner, (connection) -> {
			GuardedDatabase.insert(connection, 1);
			connection.commit();
			this.database.begin("billing", 34);
			GuardedDatabase.insert(connection, 2);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit)
				.withMessageStartingWith("billing:");
		});
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aRaiseWaitsForATransactionThatWasChecked(PortableDatabase kind) throws Exception {
		FakeRun run = begin(kind);
		ExecutorService executor = Executors.newSingleThreadExecutor();
		try (Connection connection = this.database.plain().getConnection()) {
			connection.setAutoCommit(false);
			GuardedDatabase.insert(connection, 1);
			GuardedDatabase.check(connection, run.grant());
			Future<Long> seenAfterTheRaise = executor.submit(() -> {
				this.database.begin("billing", 34);
				return this.database.invoices();
			});
			assertThatExceptionOfType(TimeoutException.class)
				.isThrownBy(() -> seenAfterTheRaise.get(500, TimeUnit.MILLISECONDS));
			connection.commit();
			assertThat(seenAfterTheRaise.get(10, TimeUnit.SECONDS)).isEqualTo(1);
		}
		finally {
			executor.shutdownNow();
		}
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void theFenceOnlyGoesUp(PortableDatabase kind) {
		begin(kind);
		assertThat(this.database.raise(new FakeRun("billing", 33))).isInstanceOf(Raised.class);
		assertThat(this.database.raise(new FakeRun("billing", 32))).isEqualTo(new Refused(33));
		assertThat(this.database.raise(new FakeRun("billing", 34))).isInstanceOf(Raised.class);
		assertThat(this.database.raise(new FakeRun("billing", 33))).isEqualTo(new Refused(34));
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void ofSeveralFirstRaisesAtOnceTheHighestStands(PortableDatabase kind) throws Exception {
		this.database = kind.open();
		for (String job : List.of("a", "b", "c", "d", "e")) {
			List<Callable<FenceAnswer>> raises = LongStream.rangeClosed(1, 6)
				.<Callable<FenceAnswer>>mapToObj((token) -> () -> this.database.raise(new FakeRun(job, token)))
				.toList();
			assertThat(inParallel(raises)).hasSize(6);
			assertThat(this.database.raise(new FakeRun(job, 5))).isEqualTo(new Refused(6));
		}
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void namesDifferByCaseAndBlanks(PortableDatabase kind) {
		begin(kind);
		assertThat(this.database.raise(new FakeRun("Billing", 1))).isInstanceOf(Raised.class);
		assertThat(this.database.raise(new FakeRun("billing ", 1))).isInstanceOf(Raised.class);
		assertThat(this.database.raise(new FakeRun("ünïcödé 請求書 🧾", 1))).isInstanceOf(Raised.class);
		assertThat(this.database.raise(new FakeRun("x".repeat(300), 1))).isInstanceOf(Raised.class);
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void severalInstancesCreateTheTableAtOnce(PortableDatabase kind) throws Exception {
		this.database = kind.open();
		this.database.outside().sql("drop table singleton_job").update();
		this.database.outside().sql("drop table singleton_job_fire_time").update();
		List<Callable<String>> starts = LongStream.range(0, 6).<Callable<String>>mapToObj((i) -> () -> {
			FenceSchema schema = new FenceSchema(this.database.plain());
			schema.initialize();
			schema.verify();
			return "ready";
		}).toList();
		assertThat(inParallel(starts)).hasSize(6).containsOnly("ready");
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aReadOnlyTransactionOfTheHolderPasses(PortableDatabase kind) {
		FakeRun run = begin(kind);
		TransactionTemplate readOnly = transactions();
		readOnly.setReadOnly(true);
		try (var scope = CurrentJobRun.open(run)) {
			Long seen = readOnly.execute((status) -> count());
			assertThat(seen).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void springsTransactionsAreRefused(PortableDatabase kind) {
		FakeRun stale = begin(kind);
		this.database.begin("billing", 34);
		try (var scope = CurrentJobRun.open(stale)) {
			assertThatThrownBy(() -> transactions().executeWithoutResult((status) -> insertBySpring()))
				.hasStackTraceContaining(StaleTokenException.class.getName());
		}
		assertThat(this.database.invoices()).isZero();
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void whatCommitsByItselfIsRefused(PortableDatabase kind) throws SQLException {
		FakeRun run = begin(kind);
		this.database.inTransaction(run, (connection) -> {
			GuardedDatabase.insert(connection, 1);
			assertRefused(connection, "create table other (id int)");
			assertRefused(connection, "/* later */ truncate table invoice");
			assertRefused(connection, "set autocommit = 1");
			assertRefused(connection, "commit");
		});
		this.database.in(run, (connection) -> assertRefused(connection, "create table other (id int)"));
		assertThat(this.database.invoices()).isZero();
		this.database.in(run.allowAutocommit(),
				(connection) -> GuardedDatabase.execute(connection, "create table other (id int)"));
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void outsideOfRunsNothingIsChecked(PortableDatabase kind) throws SQLException {
		begin(kind);
		this.database.outside().sql("drop table singleton_job").update();
		try (Connection connection = this.database.guarded().getConnection()) {
			connection.setAutoCommit(false);
			GuardedDatabase.insert(connection, 1);
			connection.commit();
			GuardedDatabase.execute(connection, "create table other (id int)");
		}
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aMissingTableIsFoundAtStart(PortableDatabase kind) {
		this.database = kind.open();
		this.database.outside().sql("drop table singleton_job").update();
		assertUnusable("is not in the current schema").satisfies(
				(ex) -> assertThat(ex.getAction()).contains("schema-" + kind.name().toLowerCase(Locale.ROOT) + ".sql"));
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aTableWithoutTheKeyIsFoundAtStart(PortableDatabase kind) {
		this.database = kind.open();
		this.database.outside().sql("alter table singleton_job drop primary key").update();
		assertUnusable("has not the primary key (namespace, name)");
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void theFenceOfAnOlderVersionGetsItsFireTimes(PortableDatabase kind) {
		FakeRun run = begin(kind);
		this.database.outside().sql("drop table singleton_job_fire_time").update();
		assertUnusable("which keeps the fire times of jobs beside the fence, does not exist");
		FenceSchema schema = new FenceSchema(this.database.plain());
		schema.initialize();
		schema.verify();
		assertThat(this.database.raise(new FakeRun("billing", 1))).isEqualTo(new Refused(run.token()));
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void fireTimesOfAnotherShapeAreFoundAtStart(PortableDatabase kind) {
		this.database = kind.open();
		this.database.outside().sql("alter table singleton_job_fire_time drop column completed").update();
		assertUnusable("refused to set up the fence");
		this.database.outside().sql("alter table singleton_job_fire_time drop primary key").update();
		assertUnusable("has not the primary key (namespace, name, schedule)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE", "MODE=MySQL;CASE_INSENSITIVE_IDENTIFIERS=TRUE",
			"DATABASE_TO_UPPER=FALSE" })
	void anH2ThatImitatesAnotherDatabaseKeepsFireTimes(String mode) throws SQLException {
		this.database = PortableDatabase.h2(mode);
		new FenceSchema(this.database.plain()).verify();
		GrantedFireTime fireTime = new GrantedFireTime(new Firing("", Instant.EPOCH, true), Instant.EPOCH, false, null);
		JdbcFence fence = new JdbcFence(this.database.plain());
		FakeRun run = new FakeRun("billing", 33);
		LeaseGrant grant = FakeRun.grant(run.grant().job(), 33, fireTime);
		assertThat(fence.raise(grant, "holder", GuardedDatabase.TIMEOUT)).isEqualTo(new Raised(fireTime));
		this.database.inTransaction(run, (connection) -> {
			GuardedDatabase.insert(connection, 1);
			connection.commit();
		});
		assertThat(fence.complete(grant, fireTime, GuardedDatabase.TIMEOUT)).isEqualTo(Completion.RECORDED);
		assertThat(fence.fireTimes(grant.job(), GuardedDatabase.TIMEOUT)).containsEntry("",
				new FireTimes(Instant.EPOCH, Instant.EPOCH));
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void longNamesHaveFireTimes(PortableDatabase kind) {
		this.database = kind.open();
		String schedule = "0 0 " + "1,".repeat(280) + "1 * * * Europe/Berlin";
		GrantedFireTime fireTime = new GrantedFireTime(new Firing(schedule, Instant.EPOCH, true), Instant.EPOCH, false,
				null);
		JobId job = new JobId("ü".repeat(300), "🧾".repeat(150));
		JdbcFence fence = new JdbcFence(this.database.plain());
		LeaseGrant grant = FakeRun.grant(job, 33, fireTime);
		assertThat(fence.raise(grant, "holder", GuardedDatabase.TIMEOUT)).isEqualTo(new Raised(fireTime));
		assertThat(fence.complete(grant, fireTime, GuardedDatabase.TIMEOUT)).isEqualTo(Completion.RECORDED);
		assertThat(fence.fireTimes(job, GuardedDatabase.TIMEOUT))
			.containsExactly(Map.entry(schedule, new FireTimes(Instant.EPOCH, Instant.EPOCH)));
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aMissingColumnIsFoundAtStart(PortableDatabase kind) {
		this.database = kind.open();
		this.database.outside().sql("alter table singleton_job drop column raised_at").update();
		assertUnusable("refused to set up the fence");
	}

	@Test
	void aTableThatLocksNoRowsIsFoundAtStart() {
		this.database = PortableDatabase.MARIADB.open();
		this.database.outside()
			.sql("alter table singleton_job modify namespace varchar(60), modify name varchar(100), engine = MyISAM")
			.update();
		assertUnusable("is not kept by InnoDB");
	}

	@Test
	void fireTimesThatAreNotRolledBackAreFoundAtStart() {
		this.database = PortableDatabase.MARIADB.open();
		this.database.outside()
			.sql("alter table singleton_job_fire_time modify namespace varchar(60), modify name varchar(100),"
					+ " modify schedule varchar(50), engine = MyISAM")
			.update();
		assertUnusable("singleton_job_fire_time` is not kept by InnoDB");
	}

	private ThrowableAssertAlternative<FenceUnusableException> assertUnusable(String complaint) {
		return assertThatExceptionOfType(FenceUnusableException.class)
			.isThrownBy(() -> new FenceSchema(this.database.plain()).verify())
			.withMessageContaining(complaint);
	}

	private FakeRun begin(PortableDatabase kind) {
		this.database = kind.open();
		return this.database.begin("billing", 33);
	}

	private TransactionTemplate transactions() {
		return new TransactionTemplate(new DataSourceTransactionManager(this.database.guarded()));
	}

	private Long count() {
		return JdbcClient.create(this.database.guarded())
			.sql("select count(*) from invoice")
			.query(Long.class)
			.single();
	}

	private void insertBySpring() {
		JdbcClient.create(this.database.guarded()).sql("insert into invoice (id) values (1)").update();
	}

	private static void assertRefused(Connection connection, String sql) {
		assertThatExceptionOfType(SQLException.class).isThrownBy(() -> GuardedDatabase.execute(connection, sql))
			.withMessageContaining("is refused inside a job's run");
	}

	private static <T> List<T> inParallel(List<Callable<T>> tasks) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(tasks.size());
		try {
			List<T> results = new ArrayList<>();
			for (Future<T> result : executor.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
				results.add(result.get());
			}
			return results;
		}
		finally {
			executor.shutdownNow();
		}
	}

	/**
	 * Fire times in H2.
	 */
	@Nested
	class FireTimesInH2 extends FenceFireTimeContract {

		FireTimesInH2() {
			super(PortableDatabase.H2.open());
		}

	}

	/**
	 * Fire times in MariaDB.
	 */
	@Nested
	class FireTimesInMariaDb extends FenceFireTimeContract {

		FireTimesInMariaDb() {
			super(PortableDatabase.MARIADB.open());
		}

	}

}
