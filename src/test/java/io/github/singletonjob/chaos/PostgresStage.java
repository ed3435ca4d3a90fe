package io.github.singletonjob.chaos;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;

/**
 * Leases in the guarded database itself, over a connection of their own.
 */
final class PostgresStage implements Stage {

	private final PostgresServer server;

	private final String url;

	private final List<String> wipe;

	/**
	 * Creates the store.
	 * @param server the guarded database's
	 * @param url of the guarded database
	 * @param wipe the statements that delete all leases
	 */
	PostgresStage(PostgresServer server, String url, List<String> wipe) {
		this.server = server;
		this.url = url;
		this.wipe = wipe;
	}

	@Override
	public List<TcpProxy> newProxies() {
		return List.of(TcpProxy.to(this.server.port()));
	}

	@Override
	public List<String> arguments(List<TcpProxy> proxies) {
		return List.of("--store.url=" + proxies.get(0).through(this.url) + "?connectTimeout=2&socketTimeout=5");
	}

	@Override
	public void begin(FaultKind kind) {
		switch (kind) {
			case STORE_FROZEN -> this.server.freeze();
			case STORE_RESTART -> this.server.restart(PostgresServer.Stop.IMMEDIATE);
			case STORE_WIPE -> wipe();
			default -> throw new IllegalArgumentException(kind.toString());
		}
	}

	/** The leases and what they know of fire times; the fence is not the store's. */
	private void wipe() {
		try (Connection connection = PostgresServer.connect(this.url);
				Statement statement = connection.createStatement()) {
			for (String each : this.wipe) {
				statement.execute(each);
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void end(FaultKind kind) {
		if (kind == FaultKind.STORE_FROZEN) {
			this.server.resume();
		}
	}

	/** The server belongs to the books. */
	@Override
	public void close() {
	}

}
