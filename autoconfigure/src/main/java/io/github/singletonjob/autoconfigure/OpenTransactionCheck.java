package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.fencing.FencedDataSources;

import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Refuses a run inside an open transaction: that would commit after the run has ended and
 * its lease was given back, unfenced.
 */
final class OpenTransactionCheck {

	private static final boolean TRANSACTIONS_PRESENT = isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager");

	private static final boolean JDBC_PRESENT = isPresent("org.springframework.jdbc.datasource.DelegatingDataSource");

	private OpenTransactionCheck() {
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, OpenTransactionCheck.class.getClassLoader());
	}

	static void refuseOpenTransaction(String job) {
		if (TRANSACTIONS_PRESENT && TransactionSynchronizationManager.isActualTransactionActive()) {
			String name = TransactionSynchronizationManager.getCurrentTransactionName();
			throw refusal(job, (name != null) ? " ('" + name + "')" : "");
		}
		if (JDBC_PRESENT && FencedDataSources.isTransactionOpenOnThisThread()) {
			throw refusal(job, " that this thread has begun itself (setAutoCommit(false), or the transaction of an"
					+ " EntityManager)");
		}
	}

	private static IllegalStateException refusal(String job, String which) {
		return new IllegalStateException(job + ": not started inside an open transaction" + which
				+ ", because what the run writes in it would be committed after the run has ended and its lease was given"
				+ " back. Commit it or roll it back before you start the job, and open transactions inside the job");
	}

}
