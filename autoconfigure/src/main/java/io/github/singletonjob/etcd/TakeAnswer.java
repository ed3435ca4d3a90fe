package io.github.singletonjob.etcd;

import java.util.List;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.github.singletonjob.lease.LeaseStoreException;
import org.jspecify.annotations.Nullable;

/**
 * The answer to an attempt.
 *
 * @param key the key that is the lease, whoever created it
 * @param offset what is added to its revision
 * @param offsetRevision the revision of that, 0 if there is none
 * @param term the term in which a majority of the members agreed on the answer
 */
record TakeAnswer(KeyValue key, long offset, long offsetRevision, long term) {

	/** Null if the key is not there: something else has changed meanwhile. */
	static @Nullable TakeAnswer of(Attempt attempt, TxnResponse reply) {
		List<GetResponse> seen = reply.getGetResponses();
		if (seen.get(0).getKvs().isEmpty()) {
			return null;
		}
		KeyValue key = seen.get(0).getKvs().get(0);
		long term = reply.getHeader().getRaftTerm();
		List<KeyValue> offset = seen.get(1).getKvs();
		return offset.isEmpty() ? new TakeAnswer(key, 0, 0, term) : new TakeAnswer(key,
				KnownJob.offset(attempt.offsetKey(), offset.get(0)), offset.get(0).getModRevision(), term);
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
