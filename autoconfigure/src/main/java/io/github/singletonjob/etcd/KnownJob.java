package io.github.singletonjob.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseStoreException;
import org.jspecify.annotations.Nullable;

/**
 * What etcd has of a job, all in one revision.
 *
 * @param lease the key that is the lease, or null if nobody has it
 * @param stored the key of the record, or null if there is none
 * @param offset what is added to a revision to get the token
 * @param record the record
 */
record KnownJob(@Nullable KeyValue lease, @Nullable KeyValue stored, long offset, JobRecord record) {

	/**
	 * Looks.
	 * @param patience how long one member has for its answer
	 * @param deadline until when, in {@link System#nanoTime()}
	 */
	static KnownJob look(EtcdConnection connection, JobKeys keys, Duration patience, long deadline, String purpose) {
		TxnResponse reply = Replies
			.await(connection.ask((client) -> KeyTxns.look(client.getKVClient(), keys), patience), deadline, purpose);
		List<GetResponse> seen = reply.getGetResponses();
		KeyValue stored = first(seen.get(1));
		return new KnownJob(first(seen.get(0)), stored, offset(keys.offset(), first(seen.get(2))),
				(stored != null) ? JobRecord.of(stored) : JobRecord.NONE);
	}

	/** 0 if there is no record. */
	long recordRevision() {
		return (this.stored != null) ? this.stored.getModRevision() : 0;
	}

	LeaseRecord summary() {
		return new LeaseRecord(this.lease != null, (this.lease != null) ? Attempt.holder(this.lease) : null, token(),
				null, this.record.fireTimes());
	}

	/** A holder that died has left the revision in which it wrote the record. */
	private long token() {
		if (this.lease != null) {
			return this.offset + this.lease.getCreateRevision();
		}
		boolean known = this.record.token() != 0 || this.stored == null;
		return known ? this.record.token() : this.offset + recordRevision();
	}

	/**
	 * Reads the key of an offset.
	 * @param name its name
	 * @param stored the key, or null if there is none
	 */
	static long offset(String name, @Nullable KeyValue stored) {
		if (stored == null) {
			return 0;
		}
		try {
			return Long.parseLong(stored.getValue().toString(StandardCharsets.UTF_8));
		}
		catch (NumberFormatException ex) {
			throw new LeaseStoreException(
					"The key " + name
							+ " of etcd holds no number. Delete it; with a guarded database it is made anew as needed",
					ex);
		}
	}

	private static @Nullable KeyValue first(GetResponse response) {
		return response.getKvs().isEmpty() ? null : response.getKvs().get(0);
	}

}
