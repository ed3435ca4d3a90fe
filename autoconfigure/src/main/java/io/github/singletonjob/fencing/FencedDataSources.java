package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.singletonjob.fencing.DataSourceGuard.Checks;
import io.github.singletonjob.fencing.DataSourceLayers.Below;

import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * Guards data sources: every transaction that a run commits on one of their connections
 * is checked by the database itself.
 * <p>
 * The guard is put around the pool, the innermost data source, so that it is met by those
 * who take the pool out of a layer, as transaction managers do, and so that closing a
 * connection of a layer ends nothing. The layers that are looked through are AOP proxies,
 * Spring's {@link DelegatingDataSource} and {@link AbstractRoutingDataSource}, and
 * datasource-proxy. A layer of another kind gets a guard of its own.
 * <p>
 * A pool that enlists its connections in JTA transactions is not guarded: how such a
 * transaction ends is not decided on its connections.
 */
public final class FencedDataSources {

	private FencedDataSources() {
	}

	/**
	 * Guards a data source with the default settings.
	 * @param dataSource the data source
	 * @return the guarded data source, or the same if all its pools are guarded now
	 */
	public static DataSource guard(DataSource dataSource) {
		return guard(dataSource, FencingSettings.defaults());
	}

	/**
	 * Guards a data source: its pools, whatever lies above them.
	 * @param dataSource the data source; its layers are changed so that they delegate to
	 * guarded ones
	 * @param settings the settings
	 * @return the guarded data source, or the same if all its pools are guarded now or
	 * are enlisted in JTA transactions
	 */
	public static DataSource guard(DataSource dataSource, FencingSettings settings) {
		return guard(dataSource, settings, new FenceCheck(new FenceTable()));
	}

	static DataSource guard(DataSource dataSource, FencingSettings settings, FenceCheck check) {
		return guard(dataSource, new Checks(check, new IdleTimeout.Sessions(settings), settings.refusesCommonPool()));
	}

	private static DataSource guard(DataSource dataSource, Checks checks) {
		DataSourceGuard guard = DataSourceGuard.of(dataSource);
		if (guard != null) {
			guardBelow(guard.target(), checks);
			guard.wake(checks);
			return dataSource;
		}
		if (DataSourceLayers.isEnlisted(dataSource)) {
			return dataSource;
		}
		guardBelow(dataSource, checks);
		List<Below> below = DataSourceLayers.isTransparent(dataSource) ? DataSourceLayers.below(dataSource) : List.of();
		boolean settled = !below.isEmpty()
				&& below.stream().map(Below::dataSource).allMatch((target) -> isGuarded(target) || isEnlisted(target));
		return settled ? dataSource : guard(DataSourceGuard.around(dataSource), checks);
	}

	private static void guardBelow(DataSource dataSource, Checks checks) {
		// The default of a data source that routes is one of its routes
		IdentityHashMap<DataSource, DataSource> guarded = new IdentityHashMap<>();
		for (Below below : DataSourceLayers.below(dataSource)) {
			DataSource target = below.dataSource();
			DataSource exchanged = guarded.computeIfAbsent(target, (found) -> guard(found, checks));
			if (exchanged != target) {
				below.exchange().accept(exchanged);
			}
		}
	}

	/**
	 * Makes a data source that may lie below the guarded one ready to be guarded without
	 * becoming another object. Until then it behaves as before.
	 * @param dataSource the data source
	 * @return a proxy of its class, or the same if it need not or cannot be one
	 */
	public static DataSource prepare(DataSource dataSource) {
		return (DataSourceLayers.isTransparent(dataSource) || isEnlisted(dataSource)
				|| !DataSourceGuard.canBeExtended(dataSource)) ? dataSource : DataSourceGuard.around(dataSource);
	}

	/**
	 * Whether all connections of a data source are guarded, by it or by what is below it.
	 * @param dataSource the data source
	 * @return whether it is guarded
	 */
	public static boolean isGuarded(DataSource dataSource) {
		DataSourceGuard guard = DataSourceGuard.of(dataSource);
		if (guard != null && guard.isAwake()) {
			return true;
		}
		DataSource target = (guard != null) ? guard.target() : dataSource;
		if (!DataSourceLayers.isTransparent(target) && !(target instanceof AbstractRoutingDataSource)) {
			return false;
		}
		List<Below> below = DataSourceLayers.below(target);
		return !below.isEmpty() && below.stream().allMatch((layer) -> isGuarded(layer.dataSource()));
	}

	/**
	 * Whether a pool below a data source, or the data source itself, enlists its
	 * connections in JTA transactions.
	 * @param dataSource the data source
	 * @return whether there is one that is known to do so
	 */
	public static boolean isEnlisted(DataSource dataSource) {
		DataSourceGuard guard = DataSourceGuard.of(dataSource);
		DataSource target = (guard != null) ? guard.target() : dataSource;
		return DataSourceLayers.isEnlisted(target)
				|| DataSourceLayers.below(target).stream().anyMatch((layer) -> isEnlisted(layer.dataSource()));
	}

	/**
	 * A data source for the fence's own statements: its connections are those that a data
	 * source opens at the time, without their guard and outside of Spring's transactions.
	 * @param dataSource a data source, guarded or not
	 * @return one without a guard
	 */
	public static DataSource unguarded(DataSource dataSource) {
		return new Unguarded(dataSource);
	}

	/**
	 * Whether the calling thread has begun a transaction on a guarded connection, by the
	 * connection itself or an {@code EntityManager} and not by Spring, that is still
	 * open. A run must not begin then: what it writes in that transaction would be
	 * committed after it.
	 * @return whether there is such a transaction
	 */
	public static boolean isTransactionOpenOnThisThread() {
		return FencedTransaction.isAnyOpenOnThisThread();
	}

	/**
	 * The fence table that a data source's guard checks.
	 * @param dataSource a data source, guarded or not
	 * @return the table
	 */
	static FenceTable table(DataSource dataSource) {
		return checks(dataSource).findFirst().map((checks) -> checks.check().table()).orElseGet(FenceTable::new);
	}

	private static Stream<Checks> checks(DataSource dataSource) {
		DataSourceGuard guard = DataSourceGuard.of(dataSource);
		Checks checks = (guard != null) ? guard.checks() : null;
		return (checks != null) ? Stream.of(checks)
				: DataSourceLayers.below(dataSource).stream().flatMap((layer) -> checks(layer.dataSource()));
	}

	/**
	 * Opens connections past the guard.
	 */
	private static final class Unguarded extends AbstractDataSource {

		private final DataSource dataSource;

		Unguarded(DataSource dataSource) {
			this.dataSource = dataSource;
		}

		@Override
		public Connection getConnection() throws SQLException {
			return DataSourceGuard.openForTheFence(entry(this.dataSource));
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			throw new SQLFeatureNotSupportedException("The fence connects as the data source does");
		}

		// A layer that opens connections later, or joins transactions, is passed by; one
		// that adds credentials, or routes, is not
		private static DataSource entry(DataSource dataSource) {
			if (DataSourceGuard.of(dataSource) == null && DataSourceLayers.isTransparent(dataSource)
					&& !(dataSource instanceof UserCredentialsDataSourceAdapter)) {
				List<Below> below = DataSourceLayers.below(dataSource);
				return below.isEmpty() ? dataSource : entry(below.get(0).dataSource());
			}
			return dataSource;
		}

	}

}
