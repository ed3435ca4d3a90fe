package io.github.singletonjob.etcd;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.etcd.jetcd.KeyValue;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * What this instance knows of its own keys. A key that is attached to one of its leases
 * and unknown here is a stray: of an attempt or a release whose reply was lost.
 */
final class HeldLeases {

	private final Map<String, HeldLease> granted = new ConcurrentHashMap<>();

	/** Which are being given back: what etcd has made of that is not known. */
	private final Map<String, HeldLease> ending = new ConcurrentHashMap<>();

	private final Map<String, Integer> underWay = new ConcurrentHashMap<>();

	/** From here to {@link #settled} nothing is known of a key. */
	void unsettled(String key) {
		this.underWay.merge(key, 1, Integer::sum);
	}

	void settled(String key) {
		this.underWay.computeIfPresent(key, (same, count) -> (count > 1) ? count - 1 : null);
	}

	void add(HeldLease grant) {
		this.granted.put(grant.key(), grant);
	}

	void remove(HeldLease grant) {
		this.granted.remove(grant.key(), grant);
	}

	/** From here on, until {@link #ended}, it may be over or not. */
	void ending(HeldLease grant) {
		this.ending.put(grant.key(), grant);
		remove(grant);
	}

	void ended(HeldLease grant) {
		this.ending.remove(grant.key(), grant);
	}

	/** The grant that a stray key was, if it is one that was being given back. */
	@Nullable HeldLease endingAs(String key, KeyValue seen) {
		HeldLease grant = this.ending.get(key);
		return (grant != null && grant.createRevision() == seen.getCreateRevision()) ? grant : null;
	}

	/** The lease that is held of a job, or null. */
	@Nullable HeldLease of(String key) {
		return this.granted.get(key);
	}

	/** The lease of a grant, also while it is being given back; null if it is over. */
	@Nullable HeldLease of(String key, LeaseGrant grant) {
		HeldLease held = this.granted.get(key);
		if (held == null || !held.grant().equals(grant)) {
			held = this.ending.get(key);
		}
		return (held != null && held.grant().equals(grant)) ? held : null;
	}

	boolean anyOn(SharedLease lease) {
		return this.granted.values().stream().anyMatch((grant) -> grant.lease() == lease);
	}

	/** In this order: a grant is added before its attempt is settled. */
	boolean isStray(String key, KeyValue seen) {
		if (this.underWay.containsKey(key)) {
			return false;
		}
		HeldLease known = this.granted.get(key);
		return known == null || known.createRevision() != seen.getCreateRevision();
	}

}
