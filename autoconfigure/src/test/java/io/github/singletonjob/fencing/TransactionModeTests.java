package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/**
 * What becomes of a connection that cannot be switched.
 */
class TransactionModeTests {

	private final Connection connection = mock(Connection.class);

	@Test
	void aConnectionThatCannotBeRestoredIsCutAndChangesNothingThatWasCommitted() throws SQLException {
		given(this.connection.getAutoCommit()).willReturn(true);
		TransactionMode mode = TransactionMode.on(this.connection, true);
		willThrow(new SQLException("gone")).given(this.connection).setAutoCommit(true);
		mode.close();
		verify(this.connection).abort(any());
	}

	@Test
	void aModeThatIsHalfSwitchedOnIsUndone() throws SQLException {
		given(this.connection.getAutoCommit()).willReturn(true);
		given(this.connection.getTransactionIsolation()).willReturn(Connection.TRANSACTION_REPEATABLE_READ);
		willThrow(new SQLException("gone")).given(this.connection).setAutoCommit(false);
		assertThatExceptionOfType(SQLException.class).isThrownBy(() -> TransactionMode.on(this.connection, true));
		verify(this.connection).setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
		verify(this.connection).setAutoCommit(true);
		verify(this.connection, never()).abort(any());
	}

}
