package io.github.singletonjob.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

import io.etcd.jetcd.KeyValue;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.LeaseStoreException;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of a job beyond its lease: how its last holder left it, and its fire
 * times. As text, on the first line {@code held} or {@code free}, and the token if it is
 * known; on each other line the fire time of a schedule that was started last, the one
 * that was completed last, or {@code -}, and the schedule.
 *
 * @param free whether the last holder gave the lease back
 * @param token the last token, 0 if it is not known here
 * @param fireTimes what is known of each schedule
 */
record JobRecord(boolean free, long token, Map<String, FireTimes> fireTimes) {

	/** Nothing is known. */
	static final JobRecord NONE = new JobRecord(true, 0, Map.of());

	private static final String HELD = "held";

	private static final String FREE = "free";

	private static final String NEVER = "-";

	static JobRecord of(KeyValue stored) {
		String text = stored.getValue().toString(StandardCharsets.UTF_8);
		try {
			return parse(text.split("\n", -1));
		}
		catch (IllegalArgumentException | DateTimeParseException | ArrayIndexOutOfBoundsException ex) {
			throw new LeaseStoreException("The key " + stored.getKey().toString(StandardCharsets.UTF_8)
					+ " of etcd holds no record of a job. Delete it, if the fire times of the job may be forgotten",
					ex);
		}
	}

	private static JobRecord parse(String[] lines) {
		String[] first = lines[0].split(" ", -1);
		if (!first[0].equals(HELD) && !first[0].equals(FREE)) {
			throw new IllegalArgumentException(lines[0]);
		}
		Map<String, FireTimes> fireTimes = new HashMap<>();
		for (int i = 1; i < lines.length; i++) {
			String[] parts = lines[i].split(" ", 3);
			fireTimes.put(parts[2].translateEscapes(), new FireTimes(instant(parts[0]), instant(parts[1])));
		}
		return new JobRecord(first[0].equals(FREE), Long.parseLong(first[1]), fireTimes);
	}

	String text() {
		StringBuilder text = new StringBuilder().append(this.free ? FREE : HELD).append(' ').append(this.token);
		new TreeMap<>(this.fireTimes).forEach((schedule, known) -> text.append('\n')
			.append(text(known.started()))
			.append(' ')
			.append(text(known.completed()))
			.append(' ')
			.append(schedule.replace("\\", "\\\\").replace("\n", "\\n")));
		return text.toString();
	}

	FireTimes of(String schedule) {
		return this.fireTimes.getOrDefault(schedule, FireTimes.NONE);
	}

	/** Somebody takes the lease, with a token that the revision tells. */
	JobRecord held() {
		return new JobRecord(false, 0, this.fireTimes);
	}

	JobRecord held(long granted) {
		return new JobRecord(false, granted, this.fireTimes);
	}

	/** The holder gives its lease back. */
	JobRecord freed() {
		return new JobRecord(true, this.token, this.fireTimes);
	}

	JobRecord with(String schedule, FireTimes known) {
		Map<String, FireTimes> all = new HashMap<>(this.fireTimes);
		all.put(schedule, known);
		return new JobRecord(this.free, this.token, all);
	}

	private static String text(@Nullable Instant instant) {
		return (instant != null) ? instant.toString() : NEVER;
	}

	private static @Nullable Instant instant(String text) {
		return text.equals(NEVER) ? null : Instant.parse(text);
	}

}
