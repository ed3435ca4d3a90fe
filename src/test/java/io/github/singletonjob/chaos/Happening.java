package io.github.singletonjob.chaos;

/**
 * A fault as it was, in milliseconds since the epoch.
 *
 * @param kind what was done
 * @param server to which process, or {@value #STORE}
 * @param from from when on
 * @param to until when
 */
record Happening(FaultKind kind, String server, long from, long to) {

	static final String STORE = "store";

	/** Whether it can be the reason for something that a server saw then. */
	boolean explains(String server, long at, long aftermath) {
		return (this.server.equals(server) || this.server.equals(STORE)) && this.kind != FaultKind.CLOCK_STEP
				&& at >= this.from && at <= this.to + aftermath;
	}

}
