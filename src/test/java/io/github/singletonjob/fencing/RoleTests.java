package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.StaleTokenException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.github.singletonjob.fencing.GuardedDatabase.execute;
import static io.github.singletonjob.fencing.GuardedDatabase.insert;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Transactions of a run that work as another role than the session, as with row-level
 * security.
 */
@Timeout(60)
class RoleTests {

	private static final String ROLE = "\"Tenant A\"";

	private final GuardedDatabase database = new GuardedDatabase();

	private final FakeRun run = this.database.begin("billing", 33);

	@BeforeEach
	void createRole() {
		update("drop role if exists " + ROLE);
		update("create role " + ROLE);
		update("grant insert on invoice to " + ROLE);
	}

	@AfterEach
	void dropRole() {
		update("drop owned by " + ROLE);
		update("drop role " + ROLE);
		this.database.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "read committed", "repeatable read", "serializable" })
	void aRoleThatMayReadTheFenceCommits(String isolation) throws SQLException {
		update("grant select on singleton_job to " + ROLE);
		this.database.inTransaction(this.run, (connection) -> {
			writeAsRole(connection, isolation);
			connection.commit();
		});
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "read committed", "repeatable read", "serializable" })
	void aStaleHolderIsRefusedAsAnyRole(String isolation) throws SQLException {
		update("grant select on singleton_job to " + ROLE);
		this.database.inTransaction(this.run, (connection) -> {
			writeAsRole(connection, isolation);
			this.database.begin("billing", 34);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit);
		});
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aRoleThatMayNotReadTheFenceIsNamedWithTheGrantThatItNeeds() throws SQLException {
		assertRefusedWith("GRANT SELECT ON public.singleton_job TO " + ROLE);
	}

	@Test
	void aRoleThatMayNotUseTheSchemaOfTheFenceIsNamedToo() throws SQLException {
		update("grant select on singleton_job to " + ROLE);
		update("create schema hidden");
		update("grant usage on schema hidden to " + ROLE);
		update("alter table invoice set schema hidden");
		update("revoke usage on schema public from public");
		this.database.inTransaction(this.run, (connection) -> {
			execute(connection, "set local role " + ROLE);
			execute(connection, "insert into hidden.invoice (id) values (1)");
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit)
				.withMessageContaining("GRANT USAGE ON SCHEMA public TO " + ROLE);
		});
	}

	@Test
	void aSessionsOwnRoleThatMayNotReadTheFenceIsNamed() throws SQLException {
		try (Connection connection = this.database.guarded().getConnection()) {
			execute(connection, "set role " + ROLE);
			try (var scope = CurrentJobRun.open(this.run)) {
				assertThatExceptionOfType(SQLException.class).isThrownBy(() -> insert(connection, 1))
					.withMessageContaining("GRANT SELECT ON public.singleton_job TO " + ROLE);
			}
			execute(connection, "reset role");
		}
		assertThat(this.database.invoices()).isZero();
	}

	private void assertRefusedWith(String grant) throws SQLException {
		this.database.inTransaction(this.run, (connection) -> {
			writeAsRole(connection, "read committed");
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit)
				.withMessageContaining("The token could not be compared")
				.withMessageContaining("nothing of it was written")
				.withMessageContaining(grant)
				.satisfies((ex) -> assertThat(ex.getSQLState()).isEqualTo("42501"));
		});
		assertThat(this.run.refusal()).isNull();
		assertThat(this.run.isHeld()).isTrue();
		assertThat(this.database.invoices()).isZero();
	}

	private static void writeAsRole(Connection connection, String isolation) throws SQLException {
		execute(connection, "set transaction isolation level " + isolation);
		execute(connection, "set local role " + ROLE);
		insert(connection, 1);
	}

	private void update(String sql) {
		this.database.outside().sql(sql).update();
	}

}
