package io.github.singletonjob.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A JVM without memory: every call to the driver may end with an
 * {@link OutOfMemoryError}, those that clean up as well.
 */
@Timeout(120)
class SickDriverTests {

	private static final int HEALTHY = Integer.MAX_VALUE;

	private final String url = Databases.create();

	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(2), Duration.ofSeconds(1),
			Duration.ofMillis(600));

	private final Instances instances = new Instances(() -> Databases.store(this.url), this.traits);

	private final JobId job = this.instances.job("billing");

	private final AtomicInteger callsUntilSick = new AtomicInteger(HEALTHY);

	private final PostgresLeaseStore store = new PostgresLeaseStore(
			() -> sick(Connection.class, Databases.source(this.url).open()), "singleton-job test");

	@AfterEach
	void close() throws Exception {
		this.callsUntilSick.set(HEALTHY);
		this.store.close();
		this.instances.close();
	}

	private <T> T sick(Class<T> type, T target) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				if (this.callsUntilSick.get() != HEALTHY && this.callsUntilSick.decrementAndGet() < 0) {
					throw new OutOfMemoryError("no memory for " + method.getName());
				}
				Object result = invoke(target, method, arguments);
				if (result instanceof ResultSet rows) {
					return sick(ResultSet.class, rows);
				}
				return (result instanceof PreparedStatement statement) ? sick(PreparedStatement.class, statement)
						: result;
			}));
	}

	private static Object invoke(Object target, java.lang.reflect.Method method, Object[] arguments) throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

	/** Not held by anybody: granted to the same instance, and then to another one. */
	private void assertIsFree() throws Exception {
		LeaseGrant grant = Instances.awaitGrant(() -> this.store.tryAcquire(this.instances.request(this.job, "us")));
		assertThat(this.store.release(grant)).isTrue();
		LeaseStore other = this.instances.open();
		other.release(Instances.awaitGrant(() -> other.tryAcquire(this.instances.request(this.job, "other"))));
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 5, 10, 14, 16, 18, 20, 22, 24, 26, 28, 30 })
	void thatFailsWhileALeaseIsAskedForLeavesNoneBehind(int calls) throws Exception {
		this.store.release(this.instances.acquire(this.store, this.instances.job("opens the session")));
		this.callsUntilSick.set(calls);
		LeaseGrant granted = attempt();
		this.callsUntilSick.set(HEALTHY);
		if (granted != null) {
			this.store.release(granted);
		}
		assertIsFree();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 5, 10, 15, 20 })
	void thatFailsWhileALeaseIsHeldEndsTheLease(int calls) throws Exception {
		LeaseGrant grant = this.instances.acquire(this.store, this.job);
		this.callsUntilSick.set(calls);
		for (int i = 0; i < 3; i++) {
			renew(grant);
		}
		this.callsUntilSick.set(HEALTHY);
		release(grant);
		assertIsFree();
	}

	private @Nullable LeaseGrant attempt() {
		try {
			return this.instances.acquire(this.store, this.job);
		}
		catch (RuntimeException | Error ex) {
			assertThat(ex).hasStackTraceContaining("no memory");
			return null;
		}
	}

	private void renew(LeaseGrant grant) {
		try {
			Instances.renew(this.store, grant);
		}
		catch (RuntimeException | Error ex) {
			assertThat(ex).isNotNull();
		}
	}

	private void release(LeaseGrant grant) {
		try {
			this.store.release(grant);
		}
		catch (RuntimeException | Error ex) {
			assertThat(ex).isNotNull();
		}
	}

}
