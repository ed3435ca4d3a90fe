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
	 * threads of the store, which has one connection for each time to live (and call
	 * time-out) in use, up to three more while several jobs are at work on it, one while
	 * somebody stands by, and two more while it probes. Must fail by itself, within
	 * seconds, if the server does not answer (pgjdbc: {@code connectTimeout} and
	 * {@code loginTimeout}); should switch on TCP keepalive; must not set a socket
	 * time-out, which the store does.
	 * @return a connection in autocommit mode, straight to the server or through a pooler
	 * that keeps one session for each connection
	 * @throws SQLException if no connection can be had
	 */
	Connection open() throws SQLException;

}
