package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Hands out the connections that the Postgres store works with.
 */
@FunctionalInterface
public interface SessionSource {

	/**
	 * Opens a connection that the caller alone uses, for minutes or days. Its session
	 * settings are changed. It is ended by {@link Connection#abort} before
	 * {@link Connection#close()}, so that a pool does not hand it out again. Called on
	 * threads of the store; should fail within seconds if the server does not answer, and
	 * should switch on TCP keepalive.
	 * @return a connection in autocommit mode, straight to the server or through a pooler
	 * that keeps one session for each connection
	 * @throws SQLException if no connection can be had
	 */
	Connection open() throws SQLException;

}
