package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * Where the fence is. The name is resolved once, to one with a schema, because the
 * transaction that is to be checked may have changed its search path or may have made a
 * temporary table of the same name.
 */
final class FenceTable {

	static final String NAME = "singleton_job";

	private static final String BESIDE = "_fire_time";

	static final String FIRE_TIMES = NAME + BESIDE;

	private static final String STANDS_AT = NAME + "_stands_at";

	// current_schemas(false) leaves out the schema of temporary tables
	private static final String FIND = """
			select pg_catalog.quote_ident(s.schema) || '.' || pg_catalog.quote_ident(c.relname)
			from unnest(pg_catalog.current_schemas(false)) with ordinality as s (schema, position)
			join pg_catalog.pg_namespace n on n.nspname = s.schema
			join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = ? and c.relkind in ('r', 'p')
			order by s.position limit 1""";

	// schema() is the current schema in H2, and the current database in MariaDB. Capitals
	// are for an H2 that leaves names as they are
	private static final String FIND_PORTABLE = "select TABLE_SCHEMA, TABLE_NAME from INFORMATION_SCHEMA.TABLES"
			+ " where TABLE_SCHEMA = schema() and lower(TABLE_NAME) = ?";

	private volatile @Nullable String qualifiedName;

	private volatile @Nullable FenceDialect dialect;

	/**
	 * The name with its schema, quoted.
	 * @param connection where to look if it is not known yet
	 * @return the name
	 * @throws SQLException if the table does not exist or the database did not answer
	 */
	String qualifiedName(Connection connection) throws SQLException {
		String known = this.qualifiedName;
		return (known != null) ? known : resolve(connection);
	}

	/**
	 * The name of the table of fire times, which lies beside the fence.
	 * @param connection where to look if that is not known yet
	 * @return the name with its schema, quoted
	 * @throws SQLException if the fence does not exist or the database did not answer
	 */
	String fireTimes(Connection connection) throws SQLException {
		return fireTimes(qualifiedName(connection));
	}

	// Spelled as the fence is: in quotes, and in capitals where a database prefers them
	static String fireTimes(String fence) {
		String quote = fence.toLowerCase(Locale.ROOT).endsWith(NAME) ? "" : fence.substring(fence.length() - 1);
		String bare = fence.substring(0, fence.length() - quote.length());
		return bare + (bare.endsWith(NAME) ? BESIDE : BESIDE.toUpperCase(Locale.ROOT)) + quote;
	}

	/** The function that compares a grant with the fence row and locks it. */
	static String standsAt(String fence) {
		return schema(fence) + "." + STANDS_AT;
	}

	/** The schema of a name with its schema, both quoted. */
	static String schema(String qualifiedName) {
		return qualifiedName.substring(0, qualifiedName.length() - NAME.length() - 1);
	}

	/**
	 * The dialect of the database, which stays the same for all connections.
	 * @param connection whom to ask if it is not known yet
	 * @return the dialect
	 * @throws SQLException if the connection is closed
	 */
	FenceDialect dialect(Connection connection) throws SQLException {
		FenceDialect known = this.dialect;
		if (known == null) {
			known = FenceDialect.of(connection);
			this.dialect = known;
		}
		return known;
	}

	private String resolve(Connection connection) throws SQLException {
		String found = find(connection);
		if (found == null) {
			throw new SQLException(
					"The fence table \"" + NAME + "\" is in no schema of the search path: create it with "
							+ dialect(connection).script() + " in the guarded database",
					"42P01");
		}
		return found;
	}

	/**
	 * Looks for the table, and remembers where it is.
	 * @param connection where to look
	 * @return the name with its schema, or null if there is no such table
	 * @throws SQLException if the database did not answer
	 */
	@Nullable String find(Connection connection) throws SQLException {
		boolean portable = dialect(connection).isPortable();
		try (PreparedStatement statement = connection.prepareStatement(portable ? FIND_PORTABLE : FIND)) {
			statement.setString(1, NAME);
			try (ResultSet result = statement.executeQuery()) {
				String found = null;
				if (result.next()) {
					found = portable ? quote(connection, result.getString(1), result.getString(2))
							: result.getString(1);
				}
				this.qualifiedName = found;
				return found;
			}
		}
	}

	private static String quote(Connection connection, String schema, String name) throws SQLException {
		String quote = connection.getMetaData().getIdentifierQuoteString();
		return quote + schema + quote + "." + quote + name + quote;
	}

}
