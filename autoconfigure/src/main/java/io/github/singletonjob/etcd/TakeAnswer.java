package io.github.singletonjob.etcd;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.github.singletonjob.lease.LeaseStoreException;

/**
 * The answer to an attempt.
 *
 * @param key the key that is the lease, whoever created it
 * @param offset what is added to its revision
 * @param offsetRevision the revision of that, 0 if there is none
 * @param term the term in which a majority of the members agreed on the answer
 */
record TakeAnswer(KeyValue key, long offset, long offsetRevision, long term) {

	static TakeAnswer of(Attempt attempt, TxnResponse reply) {
		List<GetResponse> seen = reply.getGetResponses();
		KeyValue key = seen.get(0).getKvs().get(0);
		long term = reply.getHeader().getRaftTerm();
		List<KeyValue> offset = seen.get(1).getKvs();
		return offset.isEmpty() ? new TakeAnswer(key, 0, 0, term)
				: new TakeAnswer(key, offset(attempt, offset.get(0)), offset.get(0).getModRevision(), term);
	}

	private static long offset(Attempt attempt, KeyValue stored) {
		try {
			return Long.parseLong(stored.getValue().toString(StandardCharsets.UTF_8));
		}
		catch (NumberFormatException ex) {
			throw new LeaseStoreException(attempt.purpose() + " failed: the key " + attempt.offsetKey()
					+ " holds no number. Delete it; with a guarded database it is made anew as needed", ex);
		}
	}

	long createRevision() {
		return this.key.getCreateRevision();
	}

	long token() {
		try {
			return Math.addExact(this.offset, createRevision());
		}
		catch (ArithmeticException ex) {
			throw new LeaseStoreException("The token would be larger than a number can be", ex);
		}
	}

}
