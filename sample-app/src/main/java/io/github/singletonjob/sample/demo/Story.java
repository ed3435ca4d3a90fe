package io.github.singletonjob.sample.demo;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.singletonjob.sample.demo.ServerState.Condition;
import org.jspecify.annotations.Nullable;

/**
 * Tells what happens to the servers and in the books: looks again and again, and says
 * what has changed.
 */
final class Story {

	private static final int PERIODS_THAT_MAY_CHANGE = 3;

	private final Ledger ledger;

	private final Terminal terminal;

	private final InstantSource clock;

	private final Map<String, WatchedServer> servers = new HashMap<>();

	private final Map<Long, PeriodSummary> told = new HashMap<>();

	private @Nullable Progress latest;

	Story(Ledger ledger, Terminal terminal, InstantSource clock) {
		this.ledger = ledger;
		this.terminal = terminal;
		this.clock = clock;
	}

	/**
	 * Takes a look and tells what is new.
	 * @param states the servers as they are now
	 */
	void look(List<ServerState> states) {
		Instant now = this.clock.instant();
		Progress progress = this.ledger.progress().orElse(null);
		for (ServerState state : states) {
			tellServer(state, watched(state.name()), progress, now);
		}
		if (progress != null) {
			tellHolder(progress, states);
			this.latest = progress;
		}
		states.forEach((state) -> check(state.name(), now));
		tellPeriods();
	}

	private WatchedServer watched(String name) {
		return this.servers.computeIfAbsent(name, (absent) -> new WatchedServer());
	}

	private void tellServer(ServerState state, WatchedServer server, @Nullable Progress progress, Instant now) {
		if (server.condition() == state.condition()) {
			return;
		}
		switch (state.condition()) {
			case FROZEN -> tellFrozen(state, server, progress, now);
			case STARTING, RUNNING -> tellAwake(state, server, now);
			case ENDED -> {
				server.end(now);
				this.terminal.tell(state.name() + " has ended. What it left is for the next firing of the other");
			}
		}
	}

	private void tellFrozen(ServerState state, WatchedServer server, @Nullable Progress progress, Instant now) {
		boolean billing = progress != null && progress.holder().equals(state.name()) && !progress.isComplete();
		if (progress != null && billing) {
			this.terminal.tell("%s is frozen with token %d, after %d of %d customers. Its lease will end by itself"
				.formatted(state.name(), progress.token(), progress.charged(), progress.customers()));
		}
		else {
			this.terminal.tell(state.name() + " is frozen. It was not billing");
		}
		this.terminal.tell("  wake it up with:  kill -CONT " + state.pid());
		server.freeze((progress != null && billing) ? progress.token() : 0, now);
	}

	private void tellAwake(ServerState state, WatchedServer server, Instant now) {
		if (server.condition() == Condition.STARTING) {
			server.ready(now);
			this.terminal.tell(state.name() + " is up");
			return;
		}
		Duration frozen = server.wake(now);
		this.terminal.tell("%s is awake after %d s, and knows nothing of what it has missed".formatted(state.name(),
				frozen.toSeconds()));
	}

	private void tellHolder(Progress progress, List<ServerState> states) {
		Progress before = this.latest;
		if (before != null && before.token() >= progress.token()) {
			return;
		}
		if (before != null && before.period() == progress.period()) {
			this.terminal.tell("takeover: %s (token %d) goes on with period %d, which %s (token %d) left at %d of %d"
				.formatted(progress.holder(), progress.token(), progress.period(), before.holder(), before.token(),
						before.charged(), before.customers()));
		}
		else {
			this.terminal.tell("%s bills period %d with token %d".formatted(progress.holder(), progress.period(),
					progress.token()));
		}
		states.stream()
			.filter((state) -> state.name().equals(progress.holder()) && state.condition() == Condition.RUNNING)
			.forEach((state) -> this.terminal.tell("  freeze it with:  kill -STOP " + state.pid()));
	}

	private void check(String name, Instant now) {
		watched(name).tokenToCheck(now).ifPresent((token) -> {
			Progress progress = this.latest;
			if (progress == null || progress.token() <= token) {
				this.terminal.tell(name + " could go on with token " + token + ": nobody had taken over");
				return;
			}
			long tooLate = this.ledger.acceptedTooLate(token);
			this.terminal.tell((tooLate == 0)
					? "%s is stale: no charge with token %d was accepted after a newer token had begun".formatted(name,
							token)
					: "%s is stale, and %d of its charges with token %d WERE ACCEPTED after a newer token had begun"
						.formatted(name, tooLate, token));
		});
	}

	private void tellPeriods() {
		for (PeriodSummary summary : this.ledger.summaries(PERIODS_THAT_MAY_CHANGE)) {
			if (summary.closed() && !summary.equals(this.told.put(summary.period(), summary))) {
				this.terminal.tell(summary.describe());
			}
		}
	}

}
