package io.github.singletonjob.postgres;

import java.util.HashSet;
import java.util.Set;

import io.github.singletonjob.lease.JobId;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * All versions of the library on all platforms must know a job by the same number.
 */
class LockKeyTests {

	@Test
	void isTheSameForEver() {
		assertThat(LockKey.of(new JobId("shop", "billing"))).isEqualTo(6355512901854648485L);
		assertThat(LockKey.of(new JobId("shop", "請求書"))).isEqualTo(-7102522128463348682L);
	}

	@Test
	void dependsOnWhereTheNamespaceEnds() {
		assertThat(LockKey.of(new JobId("ab", "c"))).isNotEqualTo(LockKey.of(new JobId("a", "bc")));
	}

	@Test
	void usesAll64Bits() {
		Set<Long> keys = new HashSet<>();
		Set<Integer> highHalves = new HashSet<>();
		for (int i = 0; i < 100_000; i++) {
			long key = LockKey.of(new JobId("shop", "job " + i));
			keys.add(key);
			highHalves.add((int) (key >>> 32));
		}
		assertThat(keys).hasSize(100_000);
		assertThat(highHalves).hasSizeGreaterThan(99_000);
	}

}
