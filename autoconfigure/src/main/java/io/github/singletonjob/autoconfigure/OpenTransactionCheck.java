package io.github.singletonjob.autoconfigure;

import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Refuses a run inside an open transaction: that would commit after the run has ended and
 * its lease was given back, unfenced.
 */
final class OpenTransactionCheck {

	private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			OpenTransactionCheck.class.getClassLoader());

	private OpenTransactionCheck() {
	}

	static void refuseOpenTransaction(String job) {
		if (TRANSACTIONS_PRESENT && TransactionSynchronizationManager.isActualTransactionActive()) {
			String name = TransactionSynchronizationManager.getCurrentTransactionName();
			throw new IllegalStateException(
					job + ": not started inside an open transaction" + ((name != null) ? " ('" + name + "')" : "")
							+ ", which would commit after the run has ended and its lease was given back."
							+ " Start the job outside of the transaction, and open transactions inside of it");
		}
	}

}
