package io.github.singletonjob.servers;

import java.time.Duration;

/**
 * What a {@link TcpProxy} does with connections and bytes.
 *
 * @param accepting whether new connections are possible
 * @param requestsHeld whether bytes to the server are held
 * @param repliesHeld whether bytes to the client are held
 * @param delay how much later bytes arrive
 */
record ProxyState(boolean accepting, boolean requestsHeld, boolean repliesHeld, Duration delay) {

	static final ProxyState PASS = new ProxyState(true, false, false, Duration.ZERO);

	/** A network that is cut both ways lets no handshake through either. */
	boolean isCut() {
		return this.requestsHeld && this.repliesHeld;
	}

}
