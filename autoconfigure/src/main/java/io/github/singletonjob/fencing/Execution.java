package io.github.singletonjob.fencing;

import java.sql.Statement;

import org.jspecify.annotations.Nullable;

/**
 * One call that lets the database execute something.
 *
 * @param statement the driver's statement, or null if the call is made on a result
 * @param command the command in its text that begins or ends a transaction, or null
 * @param call what to call
 */
record Execution(@Nullable Statement statement, @Nullable TransactionCommand command, Call call) {

	/**
	 * The call itself.
	 */
	@FunctionalInterface
	interface Call {

		@Nullable Object proceed() throws Throwable;

	}

}
