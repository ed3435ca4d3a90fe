package io.github.singletonjob.etcd;

import java.util.concurrent.CompletableFuture;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;

/**
 * The transactions by which keys come and go. None changes a key that is not as its
 * sender knows it.
 */
final class KeyTxns {

	private KeyTxns() {
	}

	/** Reads the lease, the record and the offset of a job. */
	static CompletableFuture<TxnResponse> look(KV kv, JobKeys keys) {
		return kv.txn()
			.Then(get(KeyNames.bytes(keys.lease())), get(KeyNames.bytes(keys.record())),
					get(KeyNames.bytes(keys.offset())))
			.commit();
	}

	/**
	 * Creates the key of a job, attached to a lease, and writes its record, if there is
	 * no key and the record is as it was seen. Either way it answers with the key and the
	 * offset of the token, as they are in the same revision.
	 */
	static CompletableFuture<TxnResponse> take(KV kv, Attempt attempt, Plan plan, long leaseId) {
		ByteSequence key = attempt.keyBytes();
		ByteSequence record = attempt.recordKeyBytes();
		Op[] look = { get(key), get(attempt.offsetKeyBytes()) };
		Op put = Op.put(key, attempt.valueBytes(), PutOption.builder().withLeaseId(leaseId).build());
		return kv.txn()
			.If(createdBy(key, 0), new Cmp(record, Cmp.Op.EQUAL, CmpTarget.modRevision(plan.before().recordRevision())))
			.Then(put, put(record, plan.record()), look[0], look[1])
			.Else(look)
			.commit();
	}

	/** Deletes the key of an attempt, and makes the record what it was before. */
	static CompletableFuture<TxnResponse> undo(KV kv, Attempt attempt, Plan plan) {
		return kv.txn().If(isOf(attempt)).Then(delete(attempt.keyBytes()), undoRecord(attempt, plan)).commit();
	}

	/** Writes the record, if the lease is still there. */
	static CompletableFuture<TxnResponse> record(KV kv, HeldLease grant) {
		return kv.txn().If(isOf(grant)).Then(put(grant.attempt().recordKeyBytes(), grant.record())).commit();
	}

	/** Deletes the key that is a lease, and says so in the record. */
	static CompletableFuture<TxnResponse> release(KV kv, HeldLease grant) {
		Attempt attempt = grant.attempt();
		return kv.txn()
			.If(isOf(grant))
			.Then(delete(attempt.keyBytes()), put(attempt.recordKeyBytes(), grant.record().freed()))
			.commit();
	}

	/** Creates a key in a queue, if it is not there, and answers with it. */
	static CompletableFuture<TxnResponse> enqueue(KV kv, ByteSequence key, long leaseId) {
		Op put = Op.put(key, ByteSequence.EMPTY, PutOption.builder().withLeaseId(leaseId).build());
		return kv.txn().If(createdBy(key, 0)).Then(put, get(key)).Else(get(key)).commit();
	}

	/**
	 * Reads the key that was created last in a queue before another one, and the lease.
	 */
	static CompletableFuture<TxnResponse> lookAhead(KV kv, QueuePlace place, long createRevision) {
		GetOption before = GetOption.builder()
			.isPrefix(true)
			.withMaxCreateRevision(createRevision - 1)
			.withSortField(GetOption.SortTarget.CREATE)
			.withSortOrder(GetOption.SortOrder.DESCEND)
			.withLimit(1)
			.withKeysOnly(true)
			.build();
		return kv.txn().Then(Op.get(place.queueKeys(), before), get(place.leaseKey())).commit();
	}

	/** Deletes a key that was created by this revision. */
	static CompletableFuture<TxnResponse> delete(KV kv, ByteSequence key, long createRevision) {
		return kv.txn().If(createdBy(key, createRevision)).Then(delete(key)).commit();
	}

	/** Raises the offset of a token, and undoes the attempt whose token was too small. */
	static CompletableFuture<TxnResponse> raise(KV kv, Attempt attempt, Plan plan, TakeAnswer low) {
		ByteSequence offsetKey = attempt.offsetKeyBytes();
		long offset = attempt.request().floor() - low.createRevision();
		return kv.txn()
			.If(isOf(attempt), new Cmp(offsetKey, Cmp.Op.EQUAL, CmpTarget.modRevision(low.offsetRevision())))
			.Then(delete(attempt.keyBytes()), undoRecord(attempt, plan),
					Op.put(offsetKey, KeyNames.bytes(Long.toString(offset)), PutOption.DEFAULT))
			.commit();
	}

	/**
	 * Changes nothing, but is refused if the user lacks a right to keys that begin so.
	 */
	static CompletableFuture<TxnResponse> tryRights(KV kv, ByteSequence prefix) {
		GetOption all = GetOption.builder().isPrefix(true).withCountOnly(true).build();
		return kv.txn()
			.If(new Cmp(prefix, Cmp.Op.LESS, CmpTarget.version(0)))
			.Then(Op.put(prefix, ByteSequence.EMPTY, PutOption.DEFAULT))
			.Else(Op.get(prefix, all))
			.commit();
	}

	private static Op undoRecord(Attempt attempt, Plan plan) {
		KeyValue before = plan.before().stored();
		ByteSequence record = attempt.recordKeyBytes();
		return (before != null) ? Op.put(record, before.getValue(), PutOption.DEFAULT) : delete(record);
	}

	private static Op put(ByteSequence key, JobRecord record) {
		return Op.put(key, KeyNames.bytes(record.text()), PutOption.DEFAULT);
	}

	/**
	 * The revision alone would not do: that can belong to somebody else if etcd was
	 * restored.
	 */
	private static Cmp[] isOf(HeldLease grant) {
		return new Cmp[] { isOf(grant.attempt()), createdBy(grant.attempt().keyBytes(), grant.createRevision()) };
	}

	private static Cmp isOf(Attempt attempt) {
		return new Cmp(attempt.keyBytes(), Cmp.Op.EQUAL, CmpTarget.value(attempt.valueBytes()));
	}

	private static Cmp createdBy(ByteSequence key, long revision) {
		return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
	}

	private static Op get(ByteSequence key) {
		return Op.get(key, GetOption.DEFAULT);
	}

	private static Op delete(ByteSequence key) {
		return Op.delete(key, DeleteOption.DEFAULT);
	}

}
