package io.github.singletonjob.etcd;

import java.nio.charset.StandardCharsets;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.singletonjob.lease.LeaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to get a lease. The value of the key that it creates is its own alone: the
 * owner, the number of the attempt, and on a line of its own the holder.
 *
 * @param request the request
 * @param keys the keys of the job
 * @param value what is written into the key
 * @param start when it began, in {@link System#nanoTime()}
 */
record Attempt(LeaseRequest request, JobKeys keys, String value, long start) {

	static Attempt of(LeaseRequest request, KeyNames names, long number) {
		String value = owner(request) + number + "\n" + request.holder();
		return new Attempt(request, names.keys(request.job()), value, System.nanoTime());
	}

	private static String owner(LeaseRequest request) {
		return KeyNames.encode(request.owner()) + " ";
	}

	/** The key that is the lease. */
	String key() {
		return this.keys.lease();
	}

	/** The key that says what is added to the revision. */
	String offsetKey() {
		return this.keys.offset();
	}

	ByteSequence keyBytes() {
		return KeyNames.bytes(key());
	}

	ByteSequence offsetKeyBytes() {
		return KeyNames.bytes(offsetKey());
	}

	ByteSequence recordKeyBytes() {
		return KeyNames.bytes(this.keys.record());
	}

	ByteSequence valueBytes() {
		return KeyNames.bytes(this.value);
	}

	long deadline() {
		return this.start + this.request.callTimeout().toNanos();
	}

	/** What the calls for it are for, as the beginning of an error message. */
	String purpose() {
		return "Asking for the lease of job '" + this.request.job() + "' in etcd";
	}

	/** Whether this attempt has created the key. */
	boolean hasCreated(KeyValue seen) {
		return seen.getValue().equals(valueBytes());
	}

	/** Whether an attempt of the same request has created the key. */
	boolean isOfOwner(KeyValue seen) {
		return text(seen).startsWith(owner(this.request));
	}

	/** The holder that a key names, for people. */
	static @Nullable String holder(KeyValue seen) {
		String[] lines = text(seen).split("\n", 2);
		return (lines.length == 2) ? lines[1] : null;
	}

	private static String text(KeyValue seen) {
		return seen.getValue().toString(StandardCharsets.UTF_8);
	}

}
