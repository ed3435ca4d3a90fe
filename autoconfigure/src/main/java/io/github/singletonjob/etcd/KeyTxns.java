package io.github.singletonjob.etcd;

import java.util.concurrent.CompletableFuture;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KV;
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

	/**
	 * Creates the key of a job, attached to a lease, if there is none. Either way it
	 * answers with the key and the offset of the token, as they are in the same revision.
	 */
	static CompletableFuture<TxnResponse> take(KV kv, Attempt attempt, long leaseId) {
		ByteSequence key = attempt.keyBytes();
		Op[] look = { get(key), get(attempt.offsetKeyBytes()) };
		Op put = Op.put(key, attempt.valueBytes(), PutOption.builder().withLeaseId(leaseId).build());
		return kv.txn()
			.If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
			.Then(put, look[0], look[1])
			.Else(look)
			.commit();
	}

	/** Deletes the key of an attempt. */
	static CompletableFuture<TxnResponse> delete(KV kv, Attempt attempt) {
		return kv.txn().If(isOf(attempt)).Then(delete(attempt.keyBytes())).commit();
	}

	/**
	 * Deletes the key that is a lease. Its revision alone would not do: that can belong
	 * to somebody else if etcd was restored.
	 */
	static CompletableFuture<TxnResponse> delete(KV kv, EtcdGrant grant) {
		Attempt attempt = grant.attempt();
		return kv.txn()
			.If(isOf(attempt), createdBy(attempt.keyBytes(), grant.createRevision()))
			.Then(delete(attempt.keyBytes()))
			.commit();
	}

	/** Deletes a key that was created by this revision. */
	static CompletableFuture<TxnResponse> delete(KV kv, ByteSequence key, long createRevision) {
		return kv.txn().If(createdBy(key, createRevision)).Then(delete(key)).commit();
	}

	/** Raises the offset of a token and deletes the key whose token was too small. */
	static CompletableFuture<TxnResponse> raise(KV kv, Attempt attempt, TakeAnswer low) {
		ByteSequence offsetKey = attempt.offsetKeyBytes();
		long offset = attempt.request().floor() - low.createRevision();
		return kv.txn()
			.If(isOf(attempt), new Cmp(offsetKey, Cmp.Op.EQUAL, CmpTarget.modRevision(low.offsetRevision())))
			.Then(delete(attempt.keyBytes()),
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
