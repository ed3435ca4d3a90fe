package io.github.singletonjob.contract;

import java.util.stream.Stream;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Any name is a name.
 */
abstract class NamesContract {

	abstract Instances instances();

	static Stream<String> names() {
		return Stream.of("it's", "\"quoted\"", "a:b:c", "{braces}", "${dollar}", "100 %", "back\\slash", "a?b",
				"two\nlines", "; drop table singleton_job_lease; --", "Rechnungslauf für Zürich", "請求書", "🧾",
				" padded ", "x".repeat(300), "😀".repeat(150));
	}

	@ParameterizedTest
	@MethodSource("names")
	void mayContainAnything(String name) {
		Instances instances = instances();
		LeaseStore store = instances.open();
		JobId job = new JobId(name, name);
		LeaseGrant grant = instances.acquire(store, job);
		assertThat(grant.job()).isEqualTo(job);
		assertThat(instances.isHeld(instances.open(), job)).isTrue();
		assertThat(renew(store, grant)).isEqualTo(Renewal.EXTENDED);
		assertThat(store.release(grant)).isTrue();
		assertThat(instances.isHeld(instances.open(), job)).isFalse();
	}

	@Test
	void areNotMixedUpWithTheNamespace() {
		Instances instances = instances();
		LeaseStore store = instances.open();
		String namespace = instances.job("x").namespace();
		instances.acquire(store, new JobId(namespace + "a", "bc"));
		instances.acquire(instances.open(), new JobId(namespace + "ab", "c"));
		instances.acquire(instances.open(), new JobId(namespace + "a:b", "c"));
		instances.acquire(instances.open(), new JobId(namespace + "a", "b:c"));
	}

}
