package io.github.singletonjob.etcd;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * How connections to etcd are encrypted. All files are in PEM format.
 *
 * @param ca the certificates that sign the servers', or null for those that the JVM
 * trusts
 * @param certificate the client's own certificate, or null if the servers ask for none
 * @param key the private key (PKCS 8) of that certificate, or null
 */
public record EtcdTls(@Nullable Path ca, @Nullable Path certificate, @Nullable Path key) {

	/**
	 * Checks what is given.
	 * @throws IllegalArgumentException if one of certificate and key is missing
	 */
	public EtcdTls {
		if ((certificate == null) != (key == null)) {
			throw new IllegalArgumentException(
					"A client certificate for etcd needs its key, and a key its certificate");
		}
	}

}
