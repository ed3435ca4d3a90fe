package io.github.singletonjob.etcd;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import io.etcd.jetcd.ByteSequence;
import io.github.singletonjob.lease.JobId;

/**
 * The names of the keys. For each job there is {@code <prefix><namespace>/lease/<job>}
 * while it is held, {@code <prefix><namespace>/record/<job>} once it was held,
 * {@code <prefix><namespace>/queue/<job>/…} for each instance that stands by, and
 * {@code <prefix><namespace>/offset/<job>} once its token had to be raised. Letters,
 * digits, {@code .}, {@code _} and {@code -} of a name stand for themselves. All else is
 * written as {@code %} and two hexadecimal digits for each byte, so that no two names
 * make one key, no key begins with another namespace's, and an operator can type them.
 */
final class KeyNames {

	private static final String LEASE = "/lease/";

	private static final String OFFSET = "/offset/";

	private static final String RECORD = "/record/";

	private static final String QUEUE = "/queue/";

	private static final HexFormat HEX = HexFormat.of().withUpperCase();

	private final String prefix;

	KeyNames(String prefix) {
		this.prefix = prefix;
	}

	/** What all keys of a namespace begin with, for an operator. */
	String of(String namespace) {
		return this.prefix + encode(namespace) + "/";
	}

	/** What the lease keys of a namespace begin with. */
	String leases(String namespace) {
		return this.prefix + encode(namespace) + LEASE;
	}

	String lease(JobId job) {
		return leases(job.namespace()) + encode(job.name());
	}

	String offset(JobId job) {
		return named(job, OFFSET);
	}

	String record(JobId job) {
		return named(job, RECORD);
	}

	JobKeys keys(JobId job) {
		return new JobKeys(lease(job), offset(job), record(job), named(job, QUEUE) + "/");
	}

	private String named(JobId job, String what) {
		return this.prefix + encode(job.namespace()) + what + encode(job.name());
	}

	static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	static String encode(String name) {
		StringBuilder encoded = new StringBuilder(name.length());
		name.codePoints().forEach((codePoint) -> append(encoded, codePoint));
		return encoded.toString();
	}

	private static void append(StringBuilder encoded, int codePoint) {
		if (isPlain(codePoint)) {
			encoded.append((char) codePoint);
		}
		else if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
			// Half a character, which UTF-8 cannot write: three bytes that UTF-8 never
			// has
			encoded.append("%FF").append(hex(codePoint >> 8)).append(hex(codePoint & 0xFF));
		}
		else {
			for (byte each : Character.toString(codePoint).getBytes(StandardCharsets.UTF_8)) {
				encoded.append(hex(each & 0xFF));
			}
		}
	}

	private static boolean isPlain(int c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_'
				|| c == '-';
	}

	private static String hex(int value) {
		return "%" + HEX.toHexDigits((byte) value);
	}

}
