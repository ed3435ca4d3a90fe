package io.github.singletonjob.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.UnusableStoreException;

/**
 * Finds out whether leases can be kept in an etcd: its version, the user, the rights.
 * Changes nothing. Of an application's own client the addresses are not known, so the
 * version is not looked at.
 */
final class EtcdProbe {

	private static final String PURPOSE = "Probing etcd";

	private static final long NO_LEASE = 1;

	private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+).*");

	private final EtcdConnection connection;

	private final String prefix;

	EtcdProbe(EtcdConnection connection, String prefix) {
		this.connection = connection;
		this.prefix = prefix;
	}

	void run() {
		try {
			checkVersion();
			await(this.connection
				.call((client) -> KeyTxns.tryRights(client.getKVClient(), KeyNames.bytes(this.prefix))));
			checkLeases();
		}
		catch (LeaseStoreException ex) {
			throw explained(ex);
		}
	}

	private void checkVersion() {
		String target = this.connection.target();
		if (target == null) {
			return;
		}
		String version = await(this.connection.call((client) -> client.getMaintenanceClient().statusMember(target)))
			.getVersion();
		Matcher parts = VERSION.matcher(version);
		if (parts.matches() && isTooOld(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2)))) {
			throw new UnusableStoreException("The lease store needs etcd 3.4 or newer; this is " + version,
					"Upgrade the cluster, or choose another singleton-job.store", null);
		}
	}

	/**
	 * A lease that cannot exist must be unknown. Done here also so that the first grant
	 * does not have to load the client's classes, which can take longer than it may.
	 */
	private void checkLeases() {
		try {
			await(this.connection.call((client) -> client.getLeaseClient().keepAliveOnce(NO_LEASE)));
		}
		catch (LeaseStoreException ex) {
			if (!EtcdFailure.isLeaseNotFound(ex)) {
				throw ex;
			}
		}
	}

	private static boolean isTooOld(int major, int minor) {
		return major < 3 || (major == 3 && minor < 4);
	}

	private LeaseStoreException explained(LeaseStoreException failure) {
		if (failure instanceof UnusableStoreException || EtcdFailure.isSilence(failure)) {
			return failure;
		}
		if (EtcdFailure.says(failure, "authentication is not enabled")) {
			return new UnusableStoreException("The lease store has a user for etcd, and etcd asks for none",
					"Remove singleton-job.etcd.user and password, or have an administrator execute: etcdctl auth enable",
					failure);
		}
		if (EtcdFailure.says(failure, "user name is empty")) {
			return new UnusableStoreException("etcd asks for a user, and the lease store has none",
					"Set singleton-job.etcd.user and singleton-job.etcd.password", failure);
		}
		return switch (EtcdFailure.code(failure)) {
			case UNAUTHENTICATED -> new UnusableStoreException("etcd does not accept the user of the lease store",
					"Correct singleton-job.etcd.user and singleton-job.etcd.password", failure);
			case PERMISSION_DENIED -> new UnusableStoreException(
					"The user of the lease store may not read and write the keys that begin with " + this.prefix,
					"Have an administrator execute: etcdctl role grant-permission --prefix=true <role of the user>"
							+ " readwrite " + this.prefix,
					failure);
			default -> failure;
		};
	}

	private static <T> T await(CompletableFuture<T> reply) {
		return Replies.await(reply, Replies.deadlineIn(CallLimit.LONGEST_CALL), PURPOSE);
	}

}
