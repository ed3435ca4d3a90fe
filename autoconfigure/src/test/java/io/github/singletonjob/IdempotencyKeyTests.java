package io.github.singletonjob;

import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.autoconfigure.SingletonJobAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What a receiver recognises a repetition by.
 */
class IdempotencyKeyTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=in-memory");

	/** Receivers have stored it: another release must not derive another one. */
	@Test
	void theKeyOfAWorkNeverChanges() {
		assertThat(IdempotencyKey.of("billing", 4711))
			.hasToString("d0a68e0b4cac97bc851cec3b09039952d0561792d8e9e4a47dff517d871be4a5");
	}

	@Test
	void enumsOfTwoTypesAreKeptApart() {
		assertThat(IdempotencyKey.of(First.OPEN)).isNotEqualTo(IdempotencyKey.of(Second.OPEN));
		assertThat(IdempotencyKey.of(First.OPEN)).isEqualTo(IdempotencyKey.of(First.OPEN));
	}

	@Test
	void halfOfASurrogatePairIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> IdempotencyKey.of("invoice", "\ud83e"))
			.withMessageContaining("surrogate");
		assertThatIllegalArgumentException().isThrownBy(() -> IdempotencyKey.of('\ud83e'))
			.withMessageContaining("surrogate");
		assertThat(IdempotencyKey.of("🧾")).isNotNull();
	}

	@Test
	void aKeyFromElsewhereFitsIntoAHeaderField() {
		assertThat(new IdempotencyKey("8e03978e-40d5-43dd-bc93-6894a57f9324")).isNotNull();
		for (String value : new String[] { "", " ", "a b", "a\r\nX-Evil: 1", "ü", "x".repeat(256) }) {
			assertThatIllegalArgumentException().isThrownBy(() -> new IdempotencyKey(value))
				.withMessageContaining("1 to 255 visible ASCII characters");
		}
	}

	private enum First {

		OPEN

	}

	private enum Second {

		OPEN

	}

	@Test
	void partsAreKeptApart() {
		assertThat(IdempotencyKey.of("a", "bc")).isNotEqualTo(IdempotencyKey.of("ab", "c"));
		assertThat(IdempotencyKey.of("a", "bc")).isNotEqualTo(IdempotencyKey.of("bc", "a"));
		assertThat(IdempotencyKey.of("abc")).isNotEqualTo(IdempotencyKey.of("abc", ""));
	}

	@Test
	void aNumberIsTheSameInEachTypeAndNotTheTextOfIt() {
		assertThat(IdempotencyKey.of(1)).isEqualTo(IdempotencyKey.of(1L));
		assertThat(IdempotencyKey.of(1)).isNotEqualTo(IdempotencyKey.of("1"));
	}

	@Test
	void whatHasNoStableTextIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> IdempotencyKey.of("invoice", new Object()))
			.withMessageContaining("java.lang.Object")
			.withMessageContaining("its text may differ between processes");
		assertThatIllegalArgumentException().isThrownBy(() -> IdempotencyKey.of(new Object[1]))
			.withMessageContaining("cannot be derived from null");
		assertThatIllegalArgumentException().isThrownBy(IdempotencyKey::of).withMessageContaining("at least one part");
	}

	@Test
	void aRunRefusesAKeyThatNamesNoWork() {
		this.runner.withPropertyValues("singleton-job.namespace=shop")
			.run((context) -> assertThat(context.getBean(SingletonJobs.class)
				.run("billing",
						(run) -> assertThatIllegalArgumentException().isThrownBy(run::idempotencyKey)
							.withMessageContaining("at least one part"))
				.failure()).isNull());
	}

	@Test
	void theKeyOfAnotherRunOfTheJobIsTheSameAndThatOfAnotherJobOrNamespaceIsNot() {
		List<Sent> sent = new ArrayList<>();
		this.runner.withPropertyValues("singleton-job.namespace=shop").run((context) -> {
			sent.add(send(context, "billing"));
			sent.add(send(context, "billing"));
			sent.add(send(context, "reminders"));
		});
		this.runner.withPropertyValues("singleton-job.namespace=other-shop")
			.run((context) -> sent.add(send(context, "billing")));
		assertThat(sent.get(1).token()).isGreaterThan(sent.get(0).token());
		assertThat(sent.get(1).key()).isEqualTo(sent.get(0).key());
		assertThat(sent.subList(1, 4)).extracting(Sent::key).doesNotHaveDuplicates();
	}

	private static Sent send(ApplicationContext context, String job) {
		List<Sent> sent = new ArrayList<>();
		RunResult result = context.getBean(SingletonJobs.class)
			.run(job, (run) -> sent.add(new Sent(run.token(), run.idempotencyKey("invoice", 4711))));
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		return sent.get(0);
	}

	/**
	 * What a receiver gets.
	 *
	 * @param token the token of the run that sent it
	 * @param key its key
	 */
	private record Sent(long token, IdempotencyKey key) {
	}

}
