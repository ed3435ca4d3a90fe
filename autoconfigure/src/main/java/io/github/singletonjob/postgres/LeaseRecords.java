package io.github.singletonjob.postgres;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.LeaseRecord;

/**
 * The answer of {@link LeaseSql#INSPECT}.
 */
final class LeaseRecords {

	private LeaseRecords() {
	}

	/**
	 * Reads it.
	 * @param row at the first row
	 */
	static LeaseRecord read(ResultSet row) throws SQLException {
		boolean held = row.getBoolean("held");
		String holder = row.getString("holder");
		long token = row.getLong("token");
		Map<String, FireTimes> fireTimes = new HashMap<>();
		do {
			String schedule = row.getString("schedule");
			if (schedule != null) {
				fireTimes.put(schedule, new FireTimes(Instants.get(row, "started"), Instants.get(row, "completed")));
			}
		}
		while (row.next());
		return new LeaseRecord(held, held ? holder : null, token, null, fireTimes);
	}

}
