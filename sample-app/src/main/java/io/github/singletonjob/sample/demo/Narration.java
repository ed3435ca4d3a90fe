package io.github.singletonjob.sample.demo;

import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.springframework.dao.DataAccessException;

/**
 * Keeps telling the story until the curtain falls.
 */
final class Narration implements AutoCloseable {

	private static final int MILLIS_BETWEEN_LOOKS = 250;

	private final Servers servers;

	private final Story story;

	private final Terminal terminal;

	private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

	Narration(Servers servers, Story story, Terminal terminal) {
		this.servers = servers;
		this.story = story;
		this.terminal = terminal;
	}

	/**
	 * Says what there is to see, and goes on telling.
	 * @param places where everything is kept
	 * @param fenced whether the fence is on
	 * @param allEnded is executed when no server is left
	 */
	void begin(List<String> places, boolean fenced, Runnable allEnded) {
		places.forEach(this.terminal::tell);
		this.terminal.tell("The two servers share the jobs 'billing' and 'statements'. Freeze the one that bills, and");
		this.terminal.tell("wake it up when the other has taken over:");
		for (ServerProcess server : this.servers.all()) {
			this.terminal
				.tell("  kill -STOP %1$d   then   kill -CONT %1$d   (%2$s)".formatted(server.pid(), server.name()));
		}
		this.terminal
			.tell(fenced ? "Nobody is charged twice. With --singleton-job.fencing.enabled=false somebody may be."
					: "The fence is off: somebody may be charged twice.");
		this.terminal.tell("Ctrl-C stops everything. The servers are starting.");
		var unused = this.thread.scheduleWithFixedDelay(() -> look(allEnded), MILLIS_BETWEEN_LOOKS,
				MILLIS_BETWEEN_LOOKS, TimeUnit.MILLISECONDS);
	}

	private void look(Runnable allEnded) {
		try {
			List<ServerState> states = this.servers.states();
			this.story.look(states);
			if (states.stream().allMatch((state) -> state.condition() == ServerState.Condition.ENDED)) {
				this.thread.shutdown();
				allEnded.run();
			}
		}
		catch (DataAccessException ex) {
			this.terminal.tell("The books cannot be read: " + ex.getMessage());
		}
	}

	/**
	 * Stops looking.
	 */
	@Override
	public void close() {
		this.thread.shutdownNow();
		this.terminal.tell("Stopping.");
	}

}
