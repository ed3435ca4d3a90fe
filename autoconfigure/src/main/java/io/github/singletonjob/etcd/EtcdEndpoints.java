package io.github.singletonjob.etcd;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Where etcd is, and as whom to go there.
 *
 * @param addresses one for each member, as {@code host:port}, or with {@code http://} or
 * {@code https://} before it
 * @param user a user of etcd, or null if it needs none
 * @param password the user's password, or null
 * @param tls how the connection is encrypted, or null if the addresses say it all
 */
public record EtcdEndpoints(List<String> addresses, @Nullable String user, @Nullable String password,
		@Nullable EtcdTls tls) {

	private static final Pattern ADDRESS = Pattern.compile("(?:https?://)?(\\[[^\\]/]+\\]|[^:/\\[\\]]+)(:\\d{1,5})?/?",
			Pattern.CASE_INSENSITIVE);

	/**
	 * Checks what is given.
	 * @throws IllegalArgumentException if it cannot be meant so; it says what is wrong,
	 * and never the password
	 */
	public EtcdEndpoints {
		addresses = List.copyOf(addresses);
		if (addresses.isEmpty()) {
			throw new IllegalArgumentException("No address of etcd is given");
		}
		for (String address : addresses) {
			if (!ADDRESS.matcher(address).matches()) {
				throw new IllegalArgumentException("'" + address.replaceFirst("//.*@", "//…@")
						+ "' is no address of etcd: write host:port, http://host:port or https://host:port");
			}
		}
		if (isGiven(user) != isGiven(password)) {
			throw new IllegalArgumentException("A user of etcd needs a password, and a password a user");
		}
		if (addresses.stream().map(EtcdEndpoints::isEncrypted).distinct().count() > 1) {
			throw new IllegalArgumentException("Either all addresses of etcd begin with https:// or none does");
		}
	}

	boolean isEncrypted() {
		return this.tls != null || isEncrypted(this.addresses.get(0));
	}

	boolean hasUser() {
		return isGiven(this.user);
	}

	/** All addresses as one target for gRPC. */
	String target() {
		List<String> hosts = this.addresses.stream()
			.map((address) -> address.replaceFirst("(?i)^https?://", "").replaceFirst("/$", ""))
			.toList();
		return "ip:///" + String.join(",", hosts);
	}

	private static boolean isEncrypted(String address) {
		return address.toLowerCase(Locale.ROOT).startsWith("https://");
	}

	private static boolean isGiven(@Nullable String value) {
		return value != null && !value.isEmpty();
	}

	/** Without the password. */
	@Override
	public String toString() {
		return "etcd at " + String.join(", ", this.addresses) + (hasUser() ? " as " + this.user : "");
	}

}
