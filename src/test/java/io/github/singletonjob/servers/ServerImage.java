package io.github.singletonjob.servers;

import java.util.List;

/**
 * Images of servers for tests that only talk to them, as they are named in the default
 * registry.
 */
public enum ServerImage {

	POSTGRES("postgres:17-alpine", 5432, "-c", "fsync=off", "-c", "max_connections=200"),

	REDIS("redis:7.2-alpine", 6379, "redis-server", "--save", "", "--appendonly", "no", "--protected-mode", "no"),

	ETCD("rancher/mirrored-coreos-etcd:v3.5.12", 2379, "etcd", "--listen-client-urls", "http://0.0.0.0:2379",
			"--advertise-client-urls", "http://127.0.0.1:2379", "--unsafe-no-fsync");

	private final String reference;

	private final int port;

	private final String command;

	ServerImage(String reference, int port, String... command) {
		this.reference = reference;
		this.port = port;
		this.command = String.join("\n", command);
	}

	/**
	 * What an engine gets.
	 * @return name and tag
	 */
	public String reference() {
		return this.reference;
	}

	/** Where the server listens, inside of its container. */
	int port() {
		return this.port;
	}

	List<String> command() {
		return List.of(this.command.split("\n", -1));
	}

}
