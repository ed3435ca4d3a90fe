package io.github.singletonjob.chaos;

import java.util.List;

import io.github.singletonjob.servers.TcpProxy;

/**
 * The processes of a store, and what can be done to them. A fault that lasts is ended by
 * {@link #end}.
 */
interface Stage extends AutoCloseable {

	/** New proxies, for one server, to all that it has to reach. */
	List<TcpProxy> newProxies();

	/** What a server is told, so that it finds the store through its proxies. */
	List<String> arguments(List<TcpProxy> proxies);

	void begin(FaultKind kind);

	void end(FaultKind kind);

	@Override
	void close();

}
