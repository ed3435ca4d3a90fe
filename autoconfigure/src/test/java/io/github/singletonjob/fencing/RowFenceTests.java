package io.github.singletonjob.fencing;

import java.sql.Statement;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeasedRun;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/**
 * Rows that are guarded one by one.
 */
class RowFenceTests {

	private final LeasedRun run = run();

	private static LeasedRun run() {
		LeasedRun run = mock(LeasedRun.class);
		given(run.job()).willReturn("billing");
		given(run.token()).willReturn(33L);
		return run;
	}

	@Test
	void aRowThatWasUpdatedIsFine() {
		RowFence.requireUpdated(1);
		RowFence.requireAllUpdated(new int[] { 1, 2 });
		RowFence.requireAllUpdated(new int[0]);
	}

	@Test
	void noRowMeansThatTheTokenIsStaleOrTheRowIsMissing() {
		try (var scope = CurrentJobRun.open(this.run)) {
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> RowFence.requireUpdated(0))
				.withMessage(
						"billing: the update changed no row under token 33: the row carries a newer token, or there is"
								+ " no such row")
				.satisfies((ex) -> verify(this.run).refused(ex));
		}
	}

	@Test
	void oneRowOfABatchIsEnough() {
		try (var scope = CurrentJobRun.open(this.run)) {
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> RowFence.requireAllUpdated(new int[] { 1, 0, 1 }))
				.withMessageContaining("update 2 of the batch of 3 changed no row")
				.satisfies((ex) -> assertThat(ex.getToken()).isEqualTo(33));
		}
	}

	@Test
	void aBatchThatDoesNotSayIsRefused() {
		try (var scope = CurrentJobRun.open(this.run)) {
			assertThatIllegalStateException()
				.isThrownBy(() -> RowFence.requireAllUpdated(new int[] { 1, Statement.SUCCESS_NO_INFO }))
				.withMessageContaining("SUCCESS_NO_INFO")
				.withMessageContaining("reWriteBatchedInserts");
			assertThatIllegalStateException().isThrownBy(() -> RowFence.requireUpdated(Statement.EXECUTE_FAILED));
			verify(this.run, never()).refused(org.mockito.ArgumentMatchers.any());
		}
	}

	@Test
	void aBatchInPartsIsCountedAsOne() {
		RowFence.requireAllUpdated(new int[][] { { 1, 1 }, { 1 } });
		try (var scope = CurrentJobRun.open(this.run)) {
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> RowFence.requireAllUpdated(new int[][] { { 1, 1 }, { 0 } }))
				.withMessageContaining("update 3 of the batch of 3");
		}
	}

	@Test
	void theTokenToWriteIsThatOfARunThatIsNotOver() {
		try (var scope = CurrentJobRun.open(this.run)) {
			assertThat(RowFence.token()).isEqualTo(33);
			willThrow(new LeaseLostException("billing", 33, "over")).given(this.run).ensureOpen();
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(RowFence::token);
		}
		assertThatIllegalStateException().isThrownBy(RowFence::token).withMessageContaining("No job run");
	}

	@Test
	void outsideOfARunNoRowIsAnIllegalState() {
		assertThatIllegalStateException().isThrownBy(() -> RowFence.requireUpdated(0))
			.withMessageContaining("No job run");
	}

}
