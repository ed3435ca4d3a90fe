package io.github.singletonjob.sample.demo;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

import io.github.singletonjob.sample.demo.ServerState.Condition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class StoryTests {

	private final Ledger ledger = mock(Ledger.class);

	private final ByteArrayOutputStream out = new ByteArrayOutputStream();

	private Instant now = Instant.EPOCH;

	private final Story story = new Story(this.ledger,
			new Terminal(new PrintStream(this.out, true, StandardCharsets.UTF_8)), () -> this.now);

	@BeforeEach
	void serversAreUp() {
		look(Condition.RUNNING);
	}

	@Test
	void tellsWhenAServerIsUp() {
		Story fresh = new Story(this.ledger, new Terminal(new PrintStream(this.out, true, StandardCharsets.UTF_8)),
				() -> this.now);
		this.out.reset();
		fresh.look(List.of(new ServerState("server-3", 33, Condition.STARTING)));
		assertThat(this.out.toString(StandardCharsets.UTF_8)).isEmpty();
		fresh.look(List.of(new ServerState("server-3", 33, Condition.RUNNING)));
		assertThat(this.out.toString(StandardCharsets.UTF_8)).contains("server-3 is up");
	}

	@Test
	void saysNothingWhenNothingIsNew() {
		assertThat(look(Condition.RUNNING)).isEmpty();
		books(new Progress(1, 40, "server-1", 3, 10));
		look(Condition.RUNNING);
		assertThat(look(Condition.RUNNING)).isEmpty();
	}

	@Test
	void namesTheServerThatBillsAndHowToFreezeIt() {
		books(new Progress(1, 40, "server-1", 3, 10));
		assertThat(look(Condition.RUNNING)).containsExactly("server-1 bills period 1 with token 40",
				"  freeze it with:  kill -STOP 11");
	}

	@Test
	void tellsFreezeTakeoverAndRefusal() {
		books(new Progress(1, 40, "server-1", 3, 10));
		look(Condition.RUNNING);
		assertThat(look(Condition.FROZEN)).containsExactly(
				"server-1 is frozen with token 40, after 3 of 10 customers. Its lease will end by itself",
				"  wake it up with:  kill -CONT 11");
		books(new Progress(1, 41, "server-2", 4, 10));
		assertThat(look(Condition.FROZEN)).containsExactly(
				"takeover: server-2 (token 41) goes on with period 1, which server-1 (token 40) left at 3 of 10",
				"  freeze it with:  kill -STOP 22");
		this.now = this.now.plusSeconds(9);
		assertThat(look(Condition.RUNNING))
			.containsExactly("server-1 is awake after 9 s, and knows nothing of what it has missed");
		this.now = this.now.plusSeconds(2);
		assertThat(look(Condition.RUNNING))
			.containsExactly("server-1 is stale: no charge with token 40 was accepted after a newer token had begun");
		assertThat(look(Condition.RUNNING)).isEmpty();
	}

	@Test
	void tellsTheDamage() {
		books(new Progress(1, 40, "server-1", 3, 10));
		look(Condition.FROZEN);
		books(new Progress(1, 41, "server-2", 10, 10));
		look(Condition.RUNNING);
		given(this.ledger.acceptedTooLate(40)).willReturn(1L);
		this.now = this.now.plusSeconds(2);
		assertThat(look(Condition.RUNNING)).containsExactly("server-1 is stale, and 1 of its charges with token 40"
				+ " WERE ACCEPTED after a newer token had begun");
	}

	@Test
	void wokenInTimeMayGoOn() {
		books(new Progress(1, 40, "server-1", 3, 10));
		look(Condition.FROZEN);
		look(Condition.RUNNING);
		this.now = this.now.plus(Duration.ofSeconds(2));
		assertThat(look(Condition.RUNNING))
			.containsExactly("server-1 could go on with token 40: nobody had taken over");
	}

	@Test
	void frozenAfterItsWorkIsOfNoInterest() {
		books(new Progress(1, 40, "server-1", 10, 10));
		look(Condition.RUNNING);
		assertThat(look(Condition.FROZEN)).first().isEqualTo("server-1 is frozen. It was not billing");
	}

	@Test
	void sumsUpClosedPeriodsAndTheirCorrections() {
		periods(new PeriodSummary(1, false, 10, 3, 0));
		assertThat(look(Condition.RUNNING)).isEmpty();
		periods(new PeriodSummary(1, true, 10, 10, 0));
		assertThat(look(Condition.RUNNING)).containsExactly("period 1: 10 customers, 10 charged once, 0 twice");
		assertThat(look(Condition.RUNNING)).isEmpty();
		periods(new PeriodSummary(1, true, 10, 9, 1));
		assertThat(look(Condition.RUNNING)).containsExactly("period 1: 10 customers, 9 charged once, 1 twice");
	}

	@Test
	void noticesAnEnd() {
		look(Condition.RUNNING);
		assertThat(look(Condition.ENDED))
			.containsExactly("server-1 has ended. What it left is for the next firing of the other");
		assertThat(look(Condition.ENDED)).isEmpty();
	}

	private void books(Progress progress) {
		given(this.ledger.progress()).willReturn(Optional.of(progress));
	}

	private void periods(PeriodSummary summary) {
		given(this.ledger.summaries(anyInt())).willReturn(List.of(summary));
	}

	private List<String> look(Condition first) {
		this.out.reset();
		this.story
			.look(List.of(new ServerState("server-1", 11, first), new ServerState("server-2", 22, Condition.RUNNING)));
		return this.out.toString(StandardCharsets.UTF_8)
			.lines()
			.map((line) -> line.substring("demo     | ".length()))
			.toList();
	}

}
