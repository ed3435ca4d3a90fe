package io.github.singletonjob.fencing;

import java.sql.Statement;
import java.util.Arrays;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeasedRun;

/**
 * For rows that keep the token of their last writer, and are guarded one by one: turns "0
 * rows updated" into a {@link StaleTokenException}.
 *
 * <pre>{@code
 * int rows = jdbc.sql("UPDATE invoice SET status = 'CHARGED', fence = :token WHERE id = :id AND fence <= :token")
 *   .param("token", RowFence.token()).param("id", id).update();
 * RowFence.requireUpdated(rows);
 * }</pre>
 *
 * The exception rolls the transaction around it back. The run is told that it is lost.
 */
public final class RowFence {

	private RowFence() {
	}

	/**
	 * The token of the current run, to be written into rows and compared with theirs.
	 * Unlike {@link JobRun#token()}, it is refused to a run that is known to be over.
	 * @return the token of the innermost run
	 * @throws LeaseLostException if the run is over
	 * @throws IllegalStateException if the calling thread is not inside a run
	 */
	public static long token() {
		JobRun run = JobRun.current();
		if (run instanceof LeasedRun leased) {
			leased.ensureOpen();
		}
		return run.token();
	}

	/**
	 * Requires that an update, whose condition names the token of the current run,
	 * changed a row.
	 * @param rows the update count
	 * @throws StaleTokenException if it changed none
	 * @throws IllegalStateException if the count does not tell, or if it is zero outside
	 * of a run
	 */
	public static void requireUpdated(int rows) {
		requireUpdated(rows, "the update");
	}

	/**
	 * Requires that each update of a batch changed a row.
	 * @param counts the update counts
	 * @throws StaleTokenException if one changed none
	 * @throws IllegalStateException if a count does not tell, as with the driver's
	 * {@code reWriteBatchedInserts}, or if it is zero outside of a run
	 */
	public static void requireAllUpdated(int[] counts) {
		for (int i = 0; i < counts.length; i++) {
			requireUpdated(counts[i], "update " + (i + 1) + " of the batch of " + counts.length);
		}
	}

	/**
	 * Requires the same of a batch that was sent in parts, as that of
	 * {@code JdbcTemplate.batchUpdate(sql, rows, batchSize, setter)}.
	 * @param counts the update counts of each part
	 * @throws StaleTokenException if one changed none
	 * @throws IllegalStateException as for {@link #requireAllUpdated(int[])}
	 */
	public static void requireAllUpdated(int[][] counts) {
		requireAllUpdated(Arrays.stream(counts).flatMapToInt(Arrays::stream).toArray());
	}

	private static void requireUpdated(int rows, String what) {
		if (rows < 0) {
			throw new IllegalStateException("The driver did not say how many rows " + what + " changed ("
					+ ((rows == Statement.SUCCESS_NO_INFO) ? "SUCCESS_NO_INFO" : "count " + rows)
					+ "): whether the row's fence refused it cannot be told. Switch off what merges the statements of a"
					+ " batch, such as reWriteBatchedInserts, or update one by one");
		}
		if (rows == 0) {
			throw refusal(JobRun.current(), what);
		}
	}

	private static StaleTokenException refusal(JobRun run, String what) {
		StaleTokenException refusal = new StaleTokenException(run.job(), run.token(),
				run.job() + ": " + what + " changed no row under token " + run.token()
						+ ": the row carries a newer token, or there is no such row");
		if (run instanceof LeasedRun leased) {
			leased.refused(refusal);
		}
		return refusal;
	}

}
