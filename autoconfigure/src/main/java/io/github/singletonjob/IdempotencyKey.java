package io.github.singletonjob;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.temporal.TemporalAccessor;
import java.util.HexFormat;
import java.util.UUID;

/**
 * A key that names one effect in the outside world, so that its receiver can recognise a
 * repetition: the "idempotency key" of payment interfaces and of the IETF draft of the
 * {@code Idempotency-Key} header field. Equal work gives equal keys, in every process.
 *
 * @param value 1 to 255 visible ASCII characters; 64 hexadecimal digits if it was derived
 */
public record IdempotencyKey(String value) {

	private static final int MAX_LENGTH = 255;

	/**
	 * Takes a key that comes from elsewhere.
	 * @throws IllegalArgumentException if the value is empty, too long, or has characters
	 * that a header field cannot carry as they are
	 */
	public IdempotencyKey {
		if (value.isEmpty() || value.length() > MAX_LENGTH
				|| value.chars().anyMatch((character) -> character <= ' ' || character > '~')) {
			throw new IllegalArgumentException(
					"An idempotency key has 1 to " + MAX_LENGTH + " visible ASCII characters and no spaces");
		}
	}

	/**
	 * Derives a key. Each part counts with its kind and its length, so that
	 * {@code ("a", "bc")} and {@code ("ab", "c")}, or {@code 1} and {@code "1"}, differ;
	 * {@code 1} and {@code 1L} do not.
	 * @param work what identifies the effect: texts, whole numbers, {@code BigDecimal}
	 * (no {@code double} or {@code float}), enums, UUIDs, booleans, dates and times of
	 * {@code java.time}. An enum counts with the name of its class, so that it makes
	 * other keys once its class is renamed
	 * @return the key
	 * @throws IllegalArgumentException if {@code work} is empty or contains null or a
	 * value without a stable text, or a text with half of a surrogate pair
	 */
	public static IdempotencyKey of(Object... work) {
		if (work.length == 0) {
			throw new IllegalArgumentException("An idempotency key needs at least one part that identifies the work");
		}
		MessageDigest digest = sha256();
		for (Object part : work) {
			byte[] text = encode(text(part));
			digest.update((text.length + ":").getBytes(StandardCharsets.UTF_8));
			digest.update(text);
		}
		return new IdempotencyKey(HexFormat.of().formatHex(digest.digest()));
	}

	private static String text(Object part) {
		if (part instanceof CharSequence) {
			return "text " + part;
		}
		if (part instanceof Long || part instanceof Integer || part instanceof Short || part instanceof Byte
				|| part instanceof java.math.BigInteger) {
			return "number " + part;
		}
		if (part instanceof java.math.BigDecimal decimal) {
			return "decimal " + decimal.stripTrailingZeros().toPlainString();
		}
		if (part instanceof Enum<?> constant) {
			return "enum " + constant.getDeclaringClass().getName() + " " + constant.name();
		}
		if (part instanceof UUID || part instanceof Boolean || part instanceof Character) {
			return "value " + part;
		}
		if (part instanceof TemporalAccessor && part.getClass().getName().startsWith("java.time.")) {
			return part.getClass().getSimpleName() + " " + part;
		}
		throw new IllegalArgumentException("An idempotency key cannot be derived from "
				+ ((part != null) ? part.getClass().getName() : "null")
				+ ": its text may differ between processes. Pass the identifying texts, numbers, enums, UUIDs or"
				+ " dates and times of java.time instead");
	}

	/** Half of a surrogate pair has no encoding, and would be equal to any other. */
	private static byte[] encode(String text) {
		try {
			ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
			byte[] bytes = new byte[encoded.remaining()];
			encoded.get(bytes);
			return bytes;
		}
		catch (CharacterCodingException ex) {
			throw new IllegalArgumentException("An idempotency key cannot be derived from a text with half of a"
					+ " surrogate pair: it was cut in the middle of a character", ex);
		}
	}

	private static MessageDigest sha256() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

	/**
	 * The key as it is sent.
	 * @return {@link #value()}
	 */
	@Override
	public String toString() {
		return this.value;
	}

}
