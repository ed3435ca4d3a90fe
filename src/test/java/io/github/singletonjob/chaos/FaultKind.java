package io.github.singletonjob.chaos;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import static io.github.singletonjob.chaos.FaultKind.Place.BACKEND;
import static io.github.singletonjob.chaos.FaultKind.Place.CLOCK;
import static io.github.singletonjob.chaos.FaultKind.Place.NETWORK;
import static io.github.singletonjob.chaos.FaultKind.Place.SERVER;

/**
 * What is done to a server, or to the store and the database of all servers, and for how
 * long, in milliseconds.
 */
enum FaultKind {

	/** A server stands still for half a TTL to four. */
	FREEZE(SERVER, 1000, 8000),

	/** As a garbage collector that stops the world for longer than anybody waits. */
	LONG_PAUSE(SERVER, 8000, 10000),

	/** {@code kill -9}; another server is started in its place after the time. */
	KILL(SERVER, 100, 2000),

	/** SIGTERM; another server is started in its place after the time. */
	TERMINATE(SERVER, 100, 2000),

	/** Nothing gets through between a server and the store, and neither side notices. */
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

	/** A server reaches neither the store nor the database. */
	BOTH_CUT(NETWORK, 500, 6000),

	/** All connections of a server end with a reset. */
	BOTH_RESET(NETWORK, 1, 1),

	/** All processes of the store stand still. */
	STORE_FROZEN(BACKEND, 1000, 8000),

	STORE_RESTART(BACKEND, 1, 1),

	/** All that the store knows is deleted. */
	STORE_WIPE(BACKEND, 1, 1),

	/** The primary is killed, its replica takes its place. */
	STORE_PROMOTION(BACKEND, 1000, 3000),

	/** The leading member stands still, another one leads. */
	LEADER_CHANGE(BACKEND, 1500, 4000),

	/** The leading member is killed, and started again after the time. */
	MEMBER_KILL(BACKEND, 500, 3000),

	/** An administrator ends all sessions of the database, those of leases too. */
	SESSIONS_ENDED(BACKEND, 1, 1),

	/** The database is restarted in an orderly way, and the store at the same time. */
	BOTH_RESTART(BACKEND, 1, 1),

	/**
	 * A replica takes the place of the database, and lacks what was committed during the
	 * time before.
	 */
	DATABASE_PROMOTION(BACKEND, 300, 2000),

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
			case POSTGRES -> EnumSet.of(STORE_PROMOTION, LEADER_CHANGE, MEMBER_KILL);
			case REDIS -> EnumSet.of(LEADER_CHANGE, MEMBER_KILL);
			case ETCD -> EnumSet.of(STORE_PROMOTION);
		};
		return Arrays.stream(values()).filter((kind) -> !others.contains(kind)).toList();
	}

	/**
	 * Whether no server can do its work meanwhile, or one cannot that keeps its leases.
	 */
	boolean excusesIdleness() {
		return switch (this) {
			case STORE_FROZEN, STORE_RESTART, BOTH_RESTART, DATABASE_PROMOTION -> true;
			default -> this.place == NETWORK && name().startsWith("DATABASE");
		};
	}

	/** Whether the members of a store that elects its leader are hit. */
	boolean hitsMembers() {
		return this.place == BACKEND && this != STORE_WIPE && this != SESSIONS_ENDED && this != DATABASE_PROMOTION;
	}

	/** Whether leases that were held when it began are over at once. */
	boolean endsLeases(StoreKind store) {
		return switch (this) {
			case STORE_WIPE -> true;
			case STORE_RESTART, BOTH_RESTART -> store != StoreKind.ETCD;
			case STORE_RESET, BOTH_RESET, SESSIONS_ENDED -> store == StoreKind.POSTGRES;
			default -> false;
		};
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', ' ');
	}

	/** Of each place at most one fault is in a schedule. */
	enum Place {

		SERVER, NETWORK, BACKEND, CLOCK

	}

}
