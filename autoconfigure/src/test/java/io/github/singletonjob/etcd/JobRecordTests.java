package io.github.singletonjob.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.LeaseStoreException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is kept of a job can be read, by people too.
 */
class JobRecordTests {

	private static final Instant ONE = Instant.parse("2026-03-01T00:00:00Z");

	private static JobRecord read(String text) {
		return JobRecord.of(new KeyValue(io.etcd.jetcd.api.KeyValue.newBuilder()
			.setKey(ByteString.copyFromUtf8("singleton-job/shop/record/billing"))
			.setValue(ByteString.copyFromUtf8(text))
			.build(), ByteSequence.EMPTY));
	}

	@Test
	void isReadable() {
		JobRecord record = JobRecord.NONE.with("", new FireTimes(ONE, null)).held(17);
		assertThat(record.text()).isEqualTo("held 17\n2026-03-01T00:00:00Z - ");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "0 0 1 * * *", "two\nlines", "back\\nslash\\", "\"quoted\"", "\ttab\r", "請求書 🧾",
			"\\u0041" })
	void keepsEverySchedule(String schedule) {
		FireTimes known = new FireTimes(ONE.plusNanos(1), ONE);
		JobRecord record = new JobRecord(true, Long.MAX_VALUE, Map.of(schedule, known, "other", FireTimes.NONE));
		assertThat(read(record.text())).isEqualTo(record);
		assertThat(ByteSequence.from(record.text(), StandardCharsets.UTF_8).size()).isPositive();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "held", "taken 1", "held x", "free 1\n", "free 1\nyesterday - ",
			"free 1\n2026-03-01T00:00:00Z" })
	void thatMakesNoSenseIsNotTakenForNone(String text) {
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> read(text))
			.withMessageContaining("singleton-job/shop/record/billing");
	}

}
