package io.github.singletonjob.fencing;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The portable check under stress, as in {@link FenceStressTests}.
 */
@Timeout(180)
class PortableStressTests {

	/** H2 writes so fast that looking at its rows takes longer with each raise. */
	private static final int RAISES = 60;

	/** A few raises may all come between two commits. */
	private static final int ATTEMPTS = 100;

	@ParameterizedTest
	@CsvSource({ "H2, TRANSACTION_READ_COMMITTED", "H2, TRANSACTION_REPEATABLE_READ",
			"MARIADB, TRANSACTION_READ_COMMITTED", "MARIADB, TRANSACTION_REPEATABLE_READ" })
	void noStaleRowBecomesVisibleAfterARaise(PortableDatabase kind, String isolation) throws Exception {
		try (GuardedDatabase database = kind.open()) {
			FenceStress stress = new FenceStress(database, RAISES);
			assertThat(stress.violationsByJdbc(isolation)).as(FenceStress.STALE_ROWS).isZero();
			assertThat(stress.refusals()).isPositive();
		}
	}

	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void noStaleRowBecomesVisibleAfterARaiseWithoutATransaction(PortableDatabase kind) throws Exception {
		try (GuardedDatabase database = kind.open()) {
			FenceStress stress = new FenceStress(database, RAISES);
			try (HikariDataSource pool = stress.pool("TRANSACTION_READ_COMMITTED")) {
				var guarded = FencedDataSources.guard(pool);
				assertThat(stress.violations(() -> stress.writeByJdbc(guarded, true))).as(FenceStress.STALE_ROWS)
					.isZero();
			}
			assertThat(stress.refusals()).isPositive();
		}
	}

	/** Without these the tests above would prove nothing. */
	@ParameterizedTest
	@EnumSource(PortableDatabase.class)
	void aCheckWithoutALockLetsStaleRowsThrough(PortableDatabase kind) throws Exception {
		int violations = 0;
		for (int attempt = 0; attempt < ATTEMPTS && violations == 0; attempt++) {
			try (GuardedDatabase database = kind.open()) {
				violations = new FenceStress(database, RAISES).violationsByJdbc("TRANSACTION_READ_COMMITTED",
						(sql) -> sql.replace("for update", "").replace("lock in share mode", ""));
			}
		}
		assertThat(violations).isPositive();
	}

}
