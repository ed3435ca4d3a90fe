package io.github.singletonjob.chaos;

import java.util.Locale;

/**
 * Where the leases are kept.
 */
enum StoreKind {

	POSTGRES, REDIS, ETCD;

	String property() {
		return name().toLowerCase(Locale.ROOT);
	}

}
