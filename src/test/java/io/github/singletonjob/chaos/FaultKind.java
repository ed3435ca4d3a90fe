package io.github.singletonjob.chaos;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import static io.github.singletonjob.chaos.FaultKind.Place.CLOCK;
import static io.github.singletonjob.chaos.FaultKind.Place.NETWORK;
import static io.github.singletonjob.chaos.FaultKind.Place.SERVER;
import static io.github.singletonjob.chaos.FaultKind.Place.STORE;

/**
 * What is done to a server or to the store, and for how long, in milliseconds.
 */
enum FaultKind {

	/** A server stands still for half a TTL to four. */
	FREEZE(SERVER, 1000, 8000),

	/** As a collector would that stops the world for longer than anybody waits. */
	LONG_PAUSE(SERVER, 8000, 10000),

	/** {@code kill -9}; another server is started in its place after the time. */
	KILL(SERVER, 100, 2000),

	/** SIGTERM; another server is started in its place after the time. */
	TERMINATE(SERVER, 100, 2000),

	/** Nothing gets through between a server and the store, and nobody is told. */
	STORE_CUT(NETWORK, 500, 6000),

	/** Each round trip to the store takes twice the delay longer. */
	STORE_DELAY(NETWORK, 1000, 5000),

	/** The store hears the server, which does not hear the store. */
	STORE_REPLIES_LOST(NETWORK, 500, 6000),

	/** The server hears the store, which does not hear the server. */
	STORE_REQUESTS_LOST(NETWORK, 500, 6000),

	/** All connections to the store end with a reset. */
	STORE_RESET(NETWORK, 1, 1),

	DATABASE_CUT(NETWORK, 500, 5000),

	DATABASE_DELAY(NETWORK, 1000, 5000),

	DATABASE_REPLIES_LOST(NETWORK, 500, 5000),

	DATABASE_REQUESTS_LOST(NETWORK, 500, 5000),

	DATABASE_RESET(NETWORK, 1, 1),

	/** All processes of the store stand still. */
	STORE_FROZEN(STORE, 1000, 8000),

	STORE_RESTART(STORE, 1, 1),

	/** All that the store knows is deleted. */
	STORE_WIPE(STORE, 1, 1),

	/** The primary is killed, its replica takes its place. */
	PROMOTION(STORE, 1000, 3000),

	/** The leading member stands still, another one leads. */
	LEADER_CHANGE(STORE, 1500, 4000),

	/** The leading member is killed, and started again after the time. */
	MEMBER_KILL(STORE, 500, 3000),

	/** The clock of a server's scheduler shows another time. */
	CLOCK_STEP(CLOCK, 2000, 5000);

	final Place place;

	final int shortest;

	final int longest;

	FaultKind(Place place, int shortest, int longest) {
		this.place = place;
		this.shortest = shortest;
		this.longest = longest;
	}

	/** What can be done where the leases are in this store. */
	static List<FaultKind> of(StoreKind store) {
		Set<FaultKind> others = switch (store) {
			case POSTGRES -> EnumSet.of(PROMOTION, LEADER_CHANGE, MEMBER_KILL);
			case REDIS -> EnumSet.of(LEADER_CHANGE, MEMBER_KILL);
			case ETCD -> EnumSet.of(PROMOTION);
		};
		return Arrays.stream(values()).filter((kind) -> !others.contains(kind)).toList();
	}

	boolean isOfDatabase() {
		return name().startsWith("DATABASE");
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', ' ');
	}

	/** Of each place at most one fault is in a schedule. */
	enum Place {

		SERVER, NETWORK, STORE, CLOCK

	}

}
