package io.github.singletonjob.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * What Redis executes as one step. Each script answers with texts.
 */
enum Script {

	/**
	 * Grants or finds a lease: {@code granted}, the token and what the run stands for;
	 * {@code held} and by whom; {@code ran} and what was completed last; or {@code early}
	 * and the server's clock.
	 */
	ACQUIRE,

	/** Compare and expire: {@code extended} or {@code gone}. */
	RENEW,

	/** Compare and record what was completed: {@code completed} or {@code gone}. */
	COMPLETE,

	/**
	 * Compare, record what was completed, delete and say so: {@code released} or
	 * {@code gone}.
	 */
	RELEASE,

	/** Compare the token, delete and say so: {@code revoked} or {@code gone}. */
	REVOKE,

	/** Reads all that is known of a job: {@code seen}, and what. */
	INSPECT,

	/** Tries all commands that the others use. */
	PROBE;

	private final String text;

	private final String digest;

	Script() {
		this.text = read(name().toLowerCase(Locale.ROOT) + ".lua");
		this.digest = digest(this.text);
	}

	String text() {
		return this.text;
	}

	/** By which Redis knows the script once it has seen it. */
	String digest() {
		return this.digest;
	}

	private static String read(String resource) {
		try (InputStream input = Script.class.getResourceAsStream(resource)) {
			if (input == null) {
				throw new IllegalStateException("The jar is damaged: it has no " + resource);
			}
			return new String(input.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String digest(String text) {
		try {
			MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
			return HexFormat.of().formatHex(sha1.digest(text.getBytes(StandardCharsets.UTF_8)));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-1, this one has not", ex);
		}
	}

}
