package io.github.singletonjob.etcd;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Addresses as people write them.
 */
class EtcdEndpointsTests {

	@Test
	void areOneTarget() {
		EtcdEndpoints endpoints = endpoints("http://etcd-1:2379", "etcd-2:2379/", "[::1]:2379", "etcd-3");
		assertThat(endpoints.target()).isEqualTo("ip:///etcd-1:2379,etcd-2:2379,[::1]:2379,etcd-3");
		assertThat(endpoints.isEncrypted()).isFalse();
		assertThat(endpoints("HTTPS://a:1", "https://b:1").isEncrypted()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "ftp://a:1", "http://user:secret@a:1", "a:port", "a:1:2", "a/b", "a:1/b" })
	void thatCannotBeMeantSoAreRefused(String address) {
		assertThatIllegalArgumentException().isThrownBy(() -> endpoints(address))
			.withMessageContaining("host:port")
			.withMessageNotContaining("secret");
	}

	@Test
	void areAllEncryptedOrNone() {
		assertThatIllegalArgumentException().isThrownBy(() -> endpoints("https://a:1", "http://b:1"));
	}

	@Test
	void doNotShowThePassword() {
		EtcdEndpoints endpoints = new EtcdEndpoints(List.of("a:1"), "shop", "secret", null);
		assertThat(endpoints).hasToString("etcd at a:1 as shop");
	}

	private static EtcdEndpoints endpoints(String... addresses) {
		return new EtcdEndpoints(List.of(addresses), null, null, null);
	}

}
