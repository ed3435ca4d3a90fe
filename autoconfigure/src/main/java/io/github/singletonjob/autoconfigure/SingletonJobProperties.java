package io.github.singletonjob.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.singletonjob.Handover;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.OnShutdown;
import io.github.singletonjob.Takeover;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of singleton jobs.
 *
 * @param store where leases are kept; required unless a LeaseStore bean is defined
 * @param namespace groups the jobs of one application; instances that share jobs share
 * it. Defaults to spring.application.name
 * @param holder names this instance, for people; defaults to host name and process id
 * @param lease times of all leases that are not set for one job
 * @param onShutdown whether runs are cancelled at once when the application stops, or may
 * finish; default means cancel
 * @param fencing how the guarded database refuses stale holders
 * @param jdbc the tables in databases
 * @param redis the store in Redis
 * @param etcd the store in etcd
 * @param reportUnmarked whether scheduled methods that are marked neither as a singleton
 * job nor with PerInstance are listed at start
 * @param jobs settings of single jobs, by their names; they beat the annotation
 */
@ConfigurationProperties("singleton-job")
record SingletonJobProperties(@Nullable StoreType store, @Nullable String namespace, @Nullable String holder,
		@DefaultValue Lease lease, @DefaultValue("cancel") OnShutdown onShutdown, @DefaultValue Fencing fencing,
		@DefaultValue Jdbc jdbc, @DefaultValue Redis redis, @DefaultValue Etcd etcd,
		@DefaultValue("false") boolean reportUnmarked, @DefaultValue Map<String, Job> jobs) {

	/**
	 * Times of leases.
	 *
	 * @param ttl how long a silent holder keeps the job; at least 2s
	 * @param renewEvery how often a lease is renewed; defaults to a third of the ttl
	 * @param stopEarly how long before the end of its lease a holder stops; defaults to
	 * three tenths of the ttl
	 */
	record Lease(@DefaultValue("10s") Duration ttl, @Nullable Duration renewEvery, @Nullable Duration stopEarly) {
	}

	/**
	 * Fencing of transactions.
	 *
	 * @param enabled whether transactions that a run commits are checked in the guarded
	 * database
	 * @param required whether the start fails if something that could write is not fenced
	 * @param dataSource bean name of the guarded DataSource; defaults to the only or the
	 * primary one
	 * @param idleInTransactionTimeout how long a transaction of a run may be idle before
	 * the database ends it, so that a frozen holder does not block its successor;
	 * defaults to the ttl of the job, 0 switches it off
	 * @param commonPool what threads of the common pool get that carry no run
	 */
	record Fencing(@DefaultValue("true") boolean enabled, @DefaultValue("false") boolean required,
			@Nullable String dataSource, @Nullable Duration idleInTransactionTimeout,
			@DefaultValue("allow") CommonPool commonPool) {
	}

	/**
	 * What threads of the common pool get from the guarded DataSource.
	 */
	enum CommonPool {

		/** A connection like any thread; without a run it is not fenced. */
		ALLOW,

		/** No connection without a run. */
		REFUSE

	}

	/**
	 * Tables.
	 *
	 * @param initializeSchema whether tables that are missing are created
	 */
	record Jdbc(@DefaultValue("always") SchemaInitialization initializeSchema) {
	}

	/**
	 * The store in Redis. Its server is that of spring.data.redis.
	 *
	 * @param keyPrefix how all keys of the store begin; no braces
	 */
	record Redis(@DefaultValue("singleton-job:") String keyPrefix) {
	}

	/**
	 * The store in etcd.
	 *
	 * @param endpoints the addresses of its members, as host:port, http://host:port or
	 * https://host:port. Not needed if there is a jetcd Client bean
	 * @param user a user of etcd, if it asks for one
	 * @param password the password of that user
	 * @param tls files for an encrypted connection
	 * @param prefix how all keys of the store begin
	 */
	record Etcd(@DefaultValue List<String> endpoints, @Nullable String user, @Nullable String password,
			@DefaultValue Tls tls, @DefaultValue("singleton-job/") String prefix) {

		/** Without the password. */
		@Override
		public String toString() {
			return "Etcd" + this.endpoints;
		}

	}

	/**
	 * Files for an encrypted connection, in PEM format.
	 *
	 * @param ca the certificates that sign the servers'; defaults to those that the JVM
	 * trusts
	 * @param certificate the client's own certificate, if the servers ask for one
	 * @param key the private key (PKCS 8) of that certificate
	 */
	record Tls(@Nullable Path ca, @Nullable Path certificate, @Nullable Path key) {
	}

	/**
	 * Settings of one job.
	 *
	 * @param ttl how long a silent holder keeps the job; at least 2s
	 * @param renewEvery how often the lease is renewed; defaults to a third of the ttl
	 * @param stopEarly how long before the end of its lease the holder stops; defaults to
	 * three tenths of the ttl
	 * @param minHold how long the job stays held at least, from the grant on; no longer
	 * than its body by default
	 * @param maxRun how long a run may last before it is cancelled; no limit by default
	 * @param onLost how the body is told that its lease is over
	 * @param takeover whether a fire time that was started and not completed is finished
	 * by another run
	 * @param handover whether a run waits for a holder before it that has not given its
	 * lease back
	 * @param onShutdown whether a run is cancelled at once when the application stops, or
	 * may finish; defaults to the annotation, then to singleton-job.on-shutdown
	 * @param autocommit whether statements outside of a transaction are fenced one by
	 * one, or executed unfenced, as VACUUM needs it
	 */
	record Job(@Nullable Duration ttl, @Nullable Duration renewEvery, @Nullable Duration stopEarly,
			@Nullable Duration minHold, @Nullable Duration maxRun, @Nullable OnLost onLost, @Nullable Takeover takeover,
			@Nullable Handover handover, @Nullable OnShutdown onShutdown,
			@DefaultValue("fence") Autocommit autocommit) {
	}

	/**
	 * What happens to statements outside of a transaction.
	 */
	enum Autocommit {

		/** Each is a fenced transaction of its own. */
		FENCE,

		/** Each is executed as it is, unfenced. */
		ALLOW

	}

}
