package io.github.singletonjob.sample.demo;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PeriodSummaryTests {

	@Test
	void everybodyOnce() {
		assertThat(new PeriodSummary(7, true, 200, 200, 0).describe())
			.isEqualTo("period 7: 200 customers, 200 charged once, 0 twice");
	}

	@Test
	void somebodyTwice() {
		assertThat(new PeriodSummary(7, true, 200, 199, 1).describe())
			.isEqualTo("period 7: 200 customers, 199 charged once, 1 twice");
	}

	@Test
	void somebodyNotAtAll() {
		assertThat(new PeriodSummary(7, true, 200, 190, 2).describe())
			.isEqualTo("period 7: 200 customers, 190 charged once, 2 twice, 8 not at all");
	}

}
