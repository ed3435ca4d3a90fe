package io.github.singletonjob.etcd;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.etcd.jetcd.ByteSequence;
import io.github.singletonjob.lease.JobId;

/**
 * Where somebody stands in the queue of a job.
 *
 * @param job the job
 * @param keys its keys
 * @param number tells apart those of one instance who stand by
 * @param taken all keys that there may be
 */
record QueuePlace(JobId job, JobKeys keys, long number, Set<ByteSequence> taken) {

	static QueuePlace of(JobId job, KeyNames names, long number) {
		return new QueuePlace(job, names.keys(job), number, ConcurrentHashMap.newKeySet());
	}

	ByteSequence leaseKey() {
		return KeyNames.bytes(this.keys.lease());
	}

	ByteSequence queueKeys() {
		return KeyNames.bytes(this.keys.queue());
	}

	/**
	 * The key on a lease of etcd. It is the same for each attempt, so that one whose
	 * reply was lost is found by the next one.
	 */
	ByteSequence key(long leaseId) {
		ByteSequence key = KeyNames.bytes(this.keys.queue() + Long.toHexString(leaseId) + "-" + this.number);
		this.taken.add(key);
		return key;
	}

}
