package io.github.singletonjob.sample.company;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.TransactionSystemException;

import static org.assertj.core.api.Assertions.assertThat;

class JobFailuresTests {

	@Test
	void recognisesTheEndOfARunInTheCauses() {
		LeaseLostException lost = new LeaseLostException("billing", 3, "lost");
		StaleTokenException refused = new StaleTokenException("billing", 3, "refused");
		refused.initCause(new IllegalStateException("division by zero"));
		assertThat(JobFailures.findEndOfRun(lost)).contains(lost);
		assertThat(JobFailures.findEndOfRun(new TransactionSystemException("commit", refused))).contains(refused);
	}

	@Test
	void leavesTheJobsOwnFailuresAlone() {
		assertThat(JobFailures.findEndOfRun(new IllegalStateException("card network is down"))).isEmpty();
	}

}
