package io.github.singletonjob.fencing;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Settings of a guarded data source.
 */
class FencingSettingsTests {

	@Test
	void nothingIsSetByDefault() {
		assertThat(FencingSettings.defaults().idleInTransactionTimeout()).isNull();
	}

	@Test
	void timesThatPostgresCannotKeepAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new FencingSettings(Duration.ofSeconds(-1)));
		assertThatIllegalArgumentException().isThrownBy(() -> new FencingSettings(Duration.ofDays(25)));
		assertThat(new FencingSettings(Duration.ZERO).idleInTransactionTimeout()).isZero();
	}

	@Test
	void aTimeThatWouldBeRoundedToOffIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new FencingSettings(Duration.ofNanos(1)));
	}

}
