package io.github.singletonjob.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;

import org.springframework.util.StringUtils;

/**
 * Names this instance, for people: the configured name, or host name and process id.
 * Leases never depend on it.
 */
final class HolderName {

	private HolderName() {
	}

	static String of(SingletonJobProperties properties) {
		String configured = properties.holder();
		return StringUtils.hasText(configured) ? configured : host() + ":" + ProcessHandle.current().pid();
	}

	private static String host() {
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "localhost";
		}
	}

}
