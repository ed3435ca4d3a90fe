package io.github.singletonjob.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.options.GetOption;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Renews leases: at the same time, the lease of etcd to which their keys are attached and
 * a look at all keys of the namespace, which must be as they were created. Keys of ours
 * that nobody knows of are deleted by the way.
 */
final class RenewalRound {

	private static final Log logger = LogFactory.getLog(RenewalRound.class);

	private static final GetOption ALL = GetOption.builder().isPrefix(true).withKeysOnly(true).build();

	private final EtcdConnection connection;

	private final KeyNames names;

	private final HeldLeases held;

	private final List<HeldLease> grants;

	private final Duration callTimeout;

	private final String purpose;

	RenewalRound(EtcdConnection connection, KeyNames names, HeldLeases held, List<HeldLease> grants) {
		this.connection = connection;
		this.names = names;
		this.held = held;
		this.grants = grants;
		this.callTimeout = grants.get(0).callTimeout();
		this.purpose = "Renewing " + grants.size() + " lease(s) in etcd";
	}

	/**
	 * Renews.
	 * @return what became of each lease
	 * @throws LeaseStoreException if that is unknown for all
	 */
	Map<HeldLease, Renewal> perform() {
		long deadline = Replies.deadlineIn(this.callTimeout);
		Set<SharedLease> leases = new LinkedHashSet<>();
		this.grants.forEach((grant) -> leases.add(grant.lease()));
		List<KeepAlive> keepAlives = leases.stream()
			.map((lease) -> KeepAlive.send(this.connection, lease, this.callTimeout))
			.toList();
		Seen seen = look(leases, deadline);
		Map<SharedLease, Renewal> renewed = confirm(keepAlives, seen.term(), deadline);
		deleteStrays(leases, seen);
		Map<HeldLease, Renewal> answers = new HashMap<>();
		for (HeldLease grant : this.grants) {
			Renewal answer = seen.has(grant) ? renewed.getOrDefault(grant.lease(), Renewal.UNKNOWN) : Renewal.GONE;
			answers.put(grant, answer);
		}
		return answers;
	}

	private Seen look(Set<SharedLease> leases, long deadline) {
		Set<String> namespaces = new HashSet<>();
		leases.forEach((lease) -> namespaces.addAll(lease.namespaces()));
		List<CompletableFuture<GetResponse>> replies = namespaces.stream().map(this::look).toList();
		Map<String, KeyValue> keys = new HashMap<>();
		long term = 0;
		for (CompletableFuture<GetResponse> reply : replies) {
			GetResponse answer = Replies.await(reply, deadline, this.purpose);
			answer.getKvs().forEach((key) -> keys.put(key.getKey().toString(StandardCharsets.UTF_8), key));
			term = Math.max(term, answer.getHeader().getRaftTerm());
		}
		return new Seen(keys, term);
	}

	private CompletableFuture<GetResponse> look(String namespace) {
		ByteSequence prefix = KeyNames.bytes(this.names.leases(namespace));
		return this.connection.ask((client) -> client.getKVClient().get(prefix, ALL), this.callTimeout.dividedBy(3));
	}

	private Map<SharedLease, Renewal> confirm(List<KeepAlive> keepAlives, long term, long deadline) {
		Map<SharedLease, Renewal> renewed = new HashMap<>();
		@Nullable LeaseStoreException unknown = null;
		for (KeepAlive keepAlive : keepAlives) {
			try {
				boolean confirmed = keepAlive.isConfirmed(term, deadline, this.purpose);
				renewed.put(keepAlive.lease(), confirmed ? Renewal.EXTENDED : Renewal.GONE);
			}
			catch (LeaseStoreException ex) {
				unknown = ex;
			}
		}
		if (renewed.isEmpty() && unknown != null) {
			throw unknown;
		}
		return renewed;
	}

	private void deleteStrays(Set<SharedLease> leases, Seen seen) {
		Set<Long> ids = new HashSet<>();
		leases.forEach((lease) -> ids.add(lease.id()));
		seen.keys().forEach((name, key) -> {
			if (ids.contains(key.getLease()) && this.held.isStray(name, key)) {
				deleteStray(name, key);
			}
		});
	}

	private void deleteStray(String name, KeyValue key) {
		HeldLease ending = this.held.endingAs(name, key);
		this.connection.callAside(
				(client) -> (ending != null) ? KeyTxns.release(client.getKVClient(), ending)
						: KeyTxns.delete(client.getKVClient(), key.getKey(), key.getCreateRevision()),
				(answered) -> logger.info("Gave up " + name + " in etcd, which was left by a call without an answer"
						+ (answered ? "" : "; not confirmed, trying again")));
	}

	/**
	 * The keys of the namespaces.
	 *
	 * @param keys the keys, without values, by their names
	 * @param term the term in which a majority of the members agreed on them
	 */
	private record Seen(Map<String, KeyValue> keys, long term) {

		boolean has(HeldLease grant) {
			KeyValue key = this.keys.get(grant.key());
			return key != null && key.getCreateRevision() == grant.createRevision()
					&& key.getLease() == grant.lease().id();
		}

	}

}
