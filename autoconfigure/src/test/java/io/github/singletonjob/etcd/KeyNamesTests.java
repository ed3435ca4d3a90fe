package io.github.singletonjob.etcd;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.github.singletonjob.lease.JobId;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two jobs never have one key.
 */
class KeyNamesTests {

	private final KeyNames names = new KeyNames("singleton-job/");

	@Test
	void ofUsualJobsAreReadable() {
		JobId job = new JobId("shop", "billing-eu.v2_x");
		assertThat(this.names.lease(job)).isEqualTo("singleton-job/shop/lease/billing-eu.v2_x");
		assertThat(this.names.offset(job)).isEqualTo("singleton-job/shop/offset/billing-eu.v2_x");
		assertThat(this.names.leases("shop")).isEqualTo("singleton-job/shop/lease/");
	}

	@Test
	void ofOtherJobsHoldPlainCharactersOnly() {
		String key = this.names.lease(new JobId("a/b", "ü %/\n😀\uD83D"));
		assertThat(key).isEqualTo("singleton-job/a%2Fb/lease/%C3%BC%20%25%2F%0A%F0%9F%98%80%FF%D8%3D");
		assertThat(KeyNames.bytes(key).toString(StandardCharsets.UTF_8)).isEqualTo(key);
	}

	@Test
	void areDifferentForDifferentJobs() {
		List<String> texts = List.of("a", "a/", "/a", "a/lease/a", "%2F", "/", "%", "%25", "\uD83D", "\uDE00", "?",
				"😀", "a b", "a+b", "A", "lease", "offset", ".", "..");
		Set<String> keys = new HashSet<>();
		for (String namespace : texts) {
			for (String name : texts) {
				JobId job = new JobId(namespace, name);
				assertThat(keys.add(this.names.lease(job))).isTrue();
				assertThat(keys.add(this.names.offset(job))).isTrue();
			}
		}
	}

	@Test
	void ofOneNamespaceNeverBeginWithAnothers() {
		assertThat(this.names.lease(new JobId("shop2", "x"))).doesNotStartWith(this.names.of("shop"));
		assertThat(this.names.lease(new JobId("shop/lease", "x"))).doesNotStartWith(this.names.of("shop"));
	}

}
