package io.github.singletonjob.faults;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.singletonjob.faults.OutageTrial.OutageReport;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.RedisServer;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications whose store is down for ten seconds, in two ways one after the other. The
 * applications run at the same time, the tests only look at what became of them.
 */
@Timeout(240)
class StoreOutageTests {

	/** Of a core: 0.05 and less, and more of it on a machine that is busy with others. */
	private static final double NEXT_TO_NOTHING = 0.08;

	private static final Map<StoreKind, CompletableFuture<Reports>> TRIALS = new EnumMap<>(StoreKind.class);

	@BeforeAll
	static void begin() {
		for (StoreKind store : StoreKind.values()) {
			if (store != StoreKind.ETCD || EtcdServer.isAvailable()) {
				OutageTrial trial = store.open();
				TRIALS.put(store, CompletableFuture.supplyAsync(() -> attempt(store, trial)));
			}
		}
	}

	@AfterAll
	static void end() {
		CompletableFuture.allOf(TRIALS.values().toArray(CompletableFuture[]::new)).exceptionally((ex) -> null).join();
	}

	private static Reports attempt(StoreKind store, OutageTrial trial) {
		try (trial) {
			trial.awaitRoutine();
			return new Reports(report(store, trial, "silent", TcpProxy::hang),
					report(store, trial, "refusing", StoreOutageTests::shutDown));
		}
	}

	private static OutageReport report(StoreKind store, OutageTrial trial, String kind, Consumer<TcpProxy> begin) {
		OutageReport report = trial.outage(begin);
		System.out.printf(
				"%s %s for 10 s: CPU %.1f %% of a core, short lease lost after %d ms, all fire again after %d ms%n",
				store, kind, report.cpuShare() * 100, report.lostAfterMillis(), report.recovery().toMillis());
		return report;
	}

	private static void shutDown(TcpProxy proxy) {
		proxy.refuse();
		proxy.reset();
	}

	private static Reports reports(StoreKind store) {
		if (store == StoreKind.ETCD) {
			EtcdServer.assumeAvailable();
		}
		return TRIALS.get(store).orTimeout(200, TimeUnit.SECONDS).join();
	}

	@ParameterizedTest
	@EnumSource
	void aRunWhoseLeaseLastsLongerSurvives(StoreKind store) {
		OutageReport silent = reports(store).silent();
		assertThat(silent.after().token()).isEqualTo(silent.before().token());
	}

	/** A session of Postgres ends with its connection, and the lease with it. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "POSTGRES")
	void itSurvivesAlsoIfConnectionsAreReset(StoreKind store) {
		OutageReport refusing = reports(store).refusing();
		assertThat(refusing.after().token()).isEqualTo(refusing.before().token());
	}

	@ParameterizedTest
	@EnumSource
	void aRunWithAShorterLeaseIsLostBeforeItCanBeTakenOver(StoreKind store) {
		assertThat(reports(store).silent().lostAfterMillis()).isBetween(500L, OutageProcess.HASTY.toMillis());
		assertThat(reports(store).refusing().lostAfterMillis()).isLessThan(OutageProcess.HASTY.toMillis());
	}

	@ParameterizedTest
	@EnumSource
	void meanwhileNoJobBegins(StoreKind store) {
		assertThat(reports(store).silent().begun()).isEmpty();
		assertThat(reports(store).refusing().begun()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void meanwhileTheApplicationUsesNextToNoTimeOfTheProcessor(StoreKind store) {
		assertThat(reports(store).silent().cpuShare()).isLessThan(NEXT_TO_NOTHING);
		assertThat(reports(store).refusing().cpuShare()).isLessThan(NEXT_TO_NOTHING);
	}

	@ParameterizedTest
	@EnumSource
	void afterwardsAllGoesOnWithoutARestart(StoreKind store) {
		for (OutageReport report : List.of(reports(store).silent(), reports(store).refusing())) {
			assertThat(report.recovery()).isLessThan(Duration.ofSeconds(5));
			assertThat(report.after().isHeld()).isTrue();
		}
	}

	/**
	 * The reports of a store.
	 *
	 * @param silent nothing gets through, connections stay open
	 * @param refusing connections are reset, new ones refused
	 */
	private record Reports(OutageReport silent, OutageReport refusing) {
	}

	private enum StoreKind {

		POSTGRES, REDIS, ETCD;

		OutageTrial open() {
			String url = PostgresServer.shared().newDatabase();
			return switch (this) {
				case POSTGRES -> {
					TcpProxy proxy = TcpProxy.to(PostgresServer.shared().port());
					yield new OutageTrial("postgres", proxy, List.of("--spring.datasource.url=" + proxy.through(url)));
				}
				case REDIS -> {
					TcpProxy proxy = TcpProxy.to(RedisServer.shared().port());
					yield new OutageTrial("redis", proxy,
							List.of("--spring.datasource.url=" + url, "--spring.data.redis.port=" + proxy.port()));
				}
				case ETCD -> {
					TcpProxy proxy = TcpProxy.to(EtcdServer.shared().port());
					yield new OutageTrial("etcd", proxy, List.of("--spring.datasource.url=" + url,
							"--singleton-job.etcd.endpoints=127.0.0.1:" + proxy.port()));
				}
			};
		}

	}

}
