package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A lease of etcd, to which the keys of several jobs are attached: all end with it.
 */
final class SharedLease {

	private final long id;

	private final Duration ttl;

	/** When the last confirmed grant or renewal was sent. */
	private final AtomicLong confirmed;

	private final Set<String> namespaces = ConcurrentHashMap.newKeySet();

	private volatile boolean retired;

	SharedLease(long id, Duration ttl, long sent) {
		this.id = id;
		this.ttl = ttl;
		this.confirmed = new AtomicLong(sent);
	}

	long id() {
		return this.id;
	}

	Duration ttl() {
		return this.ttl;
	}

	/**
	 * It was renewed.
	 * @param sent when that renewal was sent, in {@link System#nanoTime()}
	 */
	void confirm(long sent) {
		this.confirmed.accumulateAndGet(sent, (last, next) -> (next - last > 0) ? next : last);
	}

	/** Whether it is good for its whole time to live from that moment on. */
	boolean isConfirmedSince(long nanoTime) {
		return this.confirmed.get() - nanoTime >= 0;
	}

	Duration age() {
		return Duration.ofNanos(System.nanoTime() - this.confirmed.get());
	}

	/** The namespaces in which keys may be attached to it. */
	Set<String> namespaces() {
		return this.namespaces;
	}

	/** No more keys are attached: one that nobody knows of may be attached already. */
	void retire() {
		this.retired = true;
	}

	boolean isRetired() {
		return this.retired;
	}

}
