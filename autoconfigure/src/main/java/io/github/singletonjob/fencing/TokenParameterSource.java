package io.github.singletonjob.fencing;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;

import io.github.singletonjob.LeaseLostException;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.SimplePropertySqlParameterSource;
import org.springframework.jdbc.core.namedparam.SqlParameterSource;

/**
 * Named parameters for a statement on rows that are guarded one by one: those of a
 * record, a bean or a map, and {@code :token}, which is {@link RowFence#token()} at the
 * time of creation.
 *
 * <pre>{@code
 * int[] counts = jdbc.batchUpdate("UPDATE invoice SET status = 'SENT', fence = :token WHERE id = :id AND fence <= :token",
 *   TokenParameterSource.batch(invoices));
 * RowFence.requireAllUpdated(counts);
 * }</pre>
 *
 * A parameter of the same name in the values is hidden.
 */
public final class TokenParameterSource implements SqlParameterSource {

	/** The name of the parameter that is added. */
	public static final String TOKEN = "token";

	private final SqlParameterSource values;

	private final long token;

	private TokenParameterSource(SqlParameterSource values, long token) {
		this.values = values;
		this.token = token;
	}

	/**
	 * The parameters of one statement, as for {@code JdbcClient}'s {@code paramSource}.
	 * @param values a record, a bean, a map with names as keys, or another parameter
	 * source
	 * @return its parameters and the token
	 * @throws LeaseLostException if the current run is over
	 * @throws IllegalStateException if the calling thread is not inside a run
	 */
	public static TokenParameterSource of(Object values) {
		return new TokenParameterSource(source(values), RowFence.token());
	}

	/**
	 * The parameters of a batch, as for {@code NamedParameterJdbcTemplate.batchUpdate}.
	 * @param rows for each statement a record, a bean, a map or a parameter source
	 * @return the parameters of each, all with the same token
	 * @throws LeaseLostException if the current run is over
	 * @throws IllegalStateException if the calling thread is not inside a run
	 */
	public static SqlParameterSource[] batch(Collection<?> rows) {
		long token = RowFence.token();
		return rows.stream()
			.map((row) -> new TokenParameterSource(source(row), token))
			.toArray(SqlParameterSource[]::new);
	}

	private static SqlParameterSource source(Object values) {
		if (values instanceof SqlParameterSource source) {
			return source;
		}
		if (values instanceof Map<?, ?> map) {
			MapSqlParameterSource source = new MapSqlParameterSource();
			map.forEach((name, value) -> source.addValue(String.valueOf(name), value));
			return source;
		}
		return new SimplePropertySqlParameterSource(values);
	}

	@Override
	public boolean hasValue(String name) {
		return TOKEN.equals(name) || this.values.hasValue(name);
	}

	@Override
	public @Nullable Object getValue(String name) {
		return TOKEN.equals(name) ? this.token : this.values.getValue(name);
	}

	@Override
	public int getSqlType(String name) {
		return TOKEN.equals(name) ? TYPE_UNKNOWN : this.values.getSqlType(name);
	}

	@Override
	public @Nullable String getTypeName(String name) {
		return TOKEN.equals(name) ? null : this.values.getTypeName(name);
	}

	// Null stands for "not known", which holds for what is not known of the values
	@Override
	public String @Nullable [] getParameterNames() {
		String[] names = this.values.getParameterNames();
		if (names == null) {
			return null;
		}
		String[] all = Arrays.copyOf(names, names.length + 1);
		all[names.length] = TOKEN;
		return all;
	}

}
