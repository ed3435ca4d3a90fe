package io.github.singletonjob.lease;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Names a job across all instances that share it.
 *
 * @param namespace groups the jobs of one application; 1 to 300 characters
 * @param name the job's name within the namespace; 1 to 300 characters
 */
public record JobId(String namespace, String name) {

	private static final int MAX_LENGTH = 300;

	/**
	 * Checks both names.
	 * @throws IllegalArgumentException if one is blank, too long or contains NUL
	 */
	public JobId {
		check("namespace", namespace);
		check("job name", name);
	}

	private static void check(String what, String value) {
		if (value.isBlank()) {
			throw new IllegalArgumentException("The " + what + " is empty: give it 1 to " + MAX_LENGTH + " characters");
		}
		if (value.length() > MAX_LENGTH) {
			throw new IllegalArgumentException("The " + what + " '" + value.substring(0, 30) + "…' has "
					+ value.length() + " characters: at most " + MAX_LENGTH + " are allowed");
		}
		if (value.indexOf('\0') >= 0) {
			throw new IllegalArgumentException("The " + what + " contains a NUL character, which no store can keep");
		}
	}

	/**
	 * A SHA-256 of both names, for keys that have to be short or may not contain every
	 * character. The length of each name goes into it, so that moving characters from the
	 * one to the other changes it.
	 * @return 32 bytes, the same in every release and on every machine
	 */
	public byte[] digest() {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			for (String name : new String[] { this.namespace, this.name }) {
				byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
				digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
				digest.update(bytes);
			}
			return digest.digest();
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256, this one has not", ex);
		}
	}

	@Override
	public String toString() {
		return this.namespace + "/" + this.name;
	}

}
