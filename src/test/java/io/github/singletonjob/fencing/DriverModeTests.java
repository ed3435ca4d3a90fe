package io.github.singletonjob.fencing;

import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static io.github.singletonjob.fencing.GuardedDatabase.insert;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The driver speaks to the server in several ways, which its URL chooses.
 */
@Timeout(60)
class DriverModeTests {

	private static final String DEFAULT = "loginTimeout=0";

	private static final String SIMPLE = "preferQueryMode=simple";

	private static final String CACHING = "preferQueryMode=extendedCacheEverything";

	private static final String PREPARING = "prepareThreshold=1";

	private static final String BINARY = "prepareThreshold=-1";

	private static final String NOT_PREPARING = "prepareThreshold=0";

	private static final String SAVING = "autosave=always";

	private static final String FETCHING = "defaultRowFetchSize=1";

	private static final String MERGING = "reWriteBatchedInserts=true";

	private static final String READ_ONLY_ALWAYS = "readOnlyMode=always";

	@ParameterizedTest
	@ValueSource(strings = { DEFAULT, SIMPLE, CACHING, PREPARING, BINARY, NOT_PREPARING, SAVING, FETCHING, MERGING,
			READ_ONLY_ALWAYS })
	void transactionsAreFenced(String mode) throws SQLException {
		try (GuardedDatabase database = database(mode)) {
			FakeRun run = database.begin("billing", 33);
			// Often enough for the driver to prepare on the server
			for (int i = 0; i < 12; i++) {
				int id = i;
				database.inTransaction(run, (connection) -> {
					insert(connection, id);
					connection.commit();
				});
			}
			database.begin("billing", 34);
			for (int i = 0; i < 3; i++) {
				FakeRun stale = new FakeRun("billing", 33);
				database.inTransaction(stale, (connection) -> {
					insert(connection, 100);
					assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit);
				});
			}
			assertThat(database.invoices()).isEqualTo(12);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { DEFAULT, SIMPLE, CACHING, PREPARING, BINARY, NOT_PREPARING, SAVING, FETCHING, MERGING,
			READ_ONLY_ALWAYS })
	void statementsWithoutATransactionAreFenced(String mode) {
		try (GuardedDatabase database = database(mode)) {
			JdbcTemplate template = new JdbcTemplate(database.guarded());
			try (var scope = CurrentJobRun.open(database.begin("billing", 33))) {
				template.batchUpdate("insert into invoice values (?)",
						List.of(new Object[] { 1 }, new Object[] { 2 }, new Object[] { 3 }));
				assertThat(template.queryForList("select id from invoice order by id", Long.class)).containsExactly(1L,
						2L, 3L);
			}
			FakeRun stale = new FakeRun("billing", 32);
			try (var scope = CurrentJobRun.open(stale)) {
				assertThatExceptionOfType(StaleTokenException.class)
					.isThrownBy(() -> template.update("delete from invoice"));
			}
			assertThat(database.invoices()).isEqualTo(3);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { DEFAULT, SIMPLE, PREPARING, BINARY })
	void arraysGoBothWays(String mode) throws SQLException {
		try (GuardedDatabase database = database(mode);
				Connection connection = database.guarded().getConnection();
				var statement = connection.prepareStatement("select ?::int[], ?::text[]")) {
			Array numbers = connection.createArrayOf("int", new Integer[] { 1, 2 });
			Array texts = connection.createArrayOf("text", new String[] { "a,b", "\"" });
			for (int i = 0; i < 8; i++) {
				statement.setArray(1, numbers);
				statement.setObject(2, texts);
				try (ResultSet result = statement.executeQuery()) {
					result.next();
					numbers = result.getArray(1);
					texts = (Array) result.getObject(2);
				}
			}
			assertThat(numbers.toString()).startsWith("{");
			assertThat((Integer[]) numbers.getArray()).containsExactly(1, 2);
			assertThat((String[]) texts.getArray()).containsExactly("a,b", "\"");
		}
	}

	private static GuardedDatabase database(String mode) {
		return new GuardedDatabase(PostgresServer.shared().newDatabase() + "?" + mode, (config) -> {
		}, FencingSettings.defaults());
	}

}
