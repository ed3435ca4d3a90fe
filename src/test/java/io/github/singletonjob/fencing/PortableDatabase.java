package io.github.singletonjob.fencing;

import java.util.UUID;

import io.github.singletonjob.servers.MariaDbServer;

/**
 * The databases that have the portable check.
 */
enum PortableDatabase {

	/** In the memory of the test. */
	H2 {

		@Override
		GuardedDatabase open() {
			return h2("TIME ZONE=" + ZONE);
		}

	},

	/** A server of its own. */
	MARIADB {

		@Override
		GuardedDatabase open() {
			MariaDbServer.assumeAvailable();
			return at(MariaDbServer.shared().newDatabase() + "?sessionVariables=time_zone='" + ZONE + "'",
					MariaDbServer.USERNAME);
		}

	};

	/** A time zone that is not that of this process. */
	private static final String ZONE = "+13:00";

	/** An empty database; its sessions are in another time zone than this process. */
	abstract GuardedDatabase open();

	static GuardedDatabase h2(String settings) {
		return at("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;" + settings, "sa");
	}

	static GuardedDatabase at(String url, String username) {
		return new GuardedDatabase(url, username, (config) -> {
		}, FencingSettings.defaults());
	}

}
