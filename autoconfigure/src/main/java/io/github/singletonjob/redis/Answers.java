package io.github.singletonjob.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the scripts answer.
 */
final class Answers {

	private static final String STARTED = "s:";

	private static final String COMPLETED = "c:";

	private Answers() {
	}

	/** What Redis says to a request, or null if it does not say anything definite. */
	static @Nullable Acquisition acquisition(LeaseRequest request, ScriptReply reply) {
		List<String> texts = reply.texts();
		return switch (reply.verdict()) {
			case "granted" -> new Acquisition.Acquired(grant(request, texts));
			case "held" -> new Acquisition.Held((texts.size() > 1) ? texts.get(1) : null);
			case "ran" -> new Acquisition.AlreadyRan(instant(texts.get(1)));
			case "early" -> new Acquisition.Early(Objects.requireNonNull(instant(texts.get(1))));
			default -> null;
		};
	}

	private static LeaseGrant grant(LeaseRequest request, List<String> texts) {
		String[] run = texts.get(2).split("/", -1);
		return new LeaseGrant(request, Long.parseLong(texts.get(1)), fireTime(request.firing(), run),
				run[3].equals("1"));
	}

	/** Redis keeps milliseconds; the firing's own fire time may be finer than that. */
	private static @Nullable GrantedFireTime fireTime(@Nullable Firing firing, String[] run) {
		Instant granted = instant(run[0]);
		if (firing == null || granted == null) {
			return null;
		}
		boolean takeover = run[1].equals("1");
		Instant due = firing.fireTime();
		return new GrantedFireTime(firing, (takeover || due == null) ? granted : due, takeover, instant(run[2]));
	}

	static LeaseRecord record(List<String> texts) {
		String lease = texts.get(1);
		String[] parts = lease.split(" ", 4);
		long expiry = Long.parseLong(texts.get(2));
		boolean held = !lease.isEmpty();
		return new LeaseRecord(held, (held && parts.length == 4) ? parts[3] : null, Long.parseLong(texts.get(3)),
				(held && expiry >= 0) ? Duration.ofMillis(Math.max(1, expiry)) : null,
				fireTimes(texts.subList(4, texts.size())));
	}

	private static Map<String, FireTimes> fireTimes(List<String> fields) {
		Map<String, FireTimes> known = new HashMap<>();
		for (int i = 0; i + 1 < fields.size(); i += 2) {
			String field = fields.get(i);
			if (field.startsWith(STARTED) || field.startsWith(COMPLETED)) {
				Instant instant = instant(fields.get(i + 1));
				FireTimes one = field.startsWith(STARTED) ? new FireTimes(instant, null) : new FireTimes(null, instant);
				known.merge(field.substring(STARTED.length()), one, FireTimes::and);
			}
		}
		return known;
	}

	private static @Nullable Instant instant(String millis) {
		return millis.isEmpty() ? null : Instant.ofEpochMilli(Long.parseLong(millis));
	}

}
