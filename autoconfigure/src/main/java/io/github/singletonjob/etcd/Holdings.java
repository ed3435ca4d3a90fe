package io.github.singletonjob.etcd;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.etcd.jetcd.KeyValue;
import org.jspecify.annotations.Nullable;

/**
 * What this instance knows of its own keys. A key that is attached to one of its leases
 * and unknown here is a stray: of an attempt or a release whose reply was lost.
 */
final class Holdings {

	private final Map<String, EtcdGrant> granted = new ConcurrentHashMap<>();

	/** Which are being given back: what etcd has made of that is not known. */
	private final Map<String, EtcdGrant> ending = new ConcurrentHashMap<>();

	private final Map<String, Integer> underWay = new ConcurrentHashMap<>();

	/** From here to {@link #settled} nothing is known of a key. */
	void unsettled(String key) {
		this.underWay.merge(key, 1, Integer::sum);
	}

	void settled(String key) {
		this.underWay.computeIfPresent(key, (same, count) -> (count > 1) ? count - 1 : null);
	}

	void add(EtcdGrant grant) {
		this.granted.put(grant.key(), grant);
	}

	void remove(EtcdGrant grant) {
		this.granted.remove(grant.key(), grant);
	}

	/** The reply to its release was lost. */
	void ending(EtcdGrant grant) {
		this.ending.put(grant.key(), grant);
	}

	void ended(EtcdGrant grant) {
		this.ending.remove(grant.key(), grant);
	}

	/** The grant that a stray key was, if it is one that was being given back. */
	@Nullable EtcdGrant endingAs(String key, KeyValue seen) {
		EtcdGrant grant = this.ending.get(key);
		return (grant != null && grant.createRevision() == seen.getCreateRevision()) ? grant : null;
	}

	@Nullable EtcdGrant of(String key) {
		return this.granted.get(key);
	}

	boolean anyOn(SharedLease lease) {
		return this.granted.values().stream().anyMatch((grant) -> grant.lease() == lease);
	}

	/** In this order: a grant is added before its attempt is settled. */
	boolean isStray(String key, KeyValue seen) {
		if (this.underWay.containsKey(key)) {
			return false;
		}
		EtcdGrant known = this.granted.get(key);
		return known == null || known.createRevision() != seen.getCreateRevision();
	}

}
