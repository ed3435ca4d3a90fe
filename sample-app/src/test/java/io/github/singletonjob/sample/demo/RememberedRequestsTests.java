package io.github.singletonjob.sample.demo;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.github.singletonjob.sample.demo.RememberedRequests.Answer;
import io.github.singletonjob.sample.demo.RememberedRequests.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RememberedRequestsTests {

	private final RememberedRequests memory = new RememberedRequests("payment");

	@Test
	void newKeyHasAnEffect() {
		assertThat(this.memory.answer("a", "10")).isEqualTo(new Answer(Kind.EXECUTED, "payment-1"));
		assertThat(this.memory.answer("b", "10")).isEqualTo(new Answer(Kind.EXECUTED, "payment-2"));
		assertThat(this.memory.effects()).isEqualTo(2);
		assertThat(this.memory.repetitions()).isZero();
	}

	@Test
	void repetitionIsAnsweredAsTheFirstAndHasNoEffect() {
		this.memory.answer("a", "10");
		this.memory.answer("b", "10");
		assertThat(this.memory.answer("a", "10")).isEqualTo(new Answer(Kind.REPEATED, "payment-1"));
		assertThat(this.memory.effects()).isEqualTo(2);
		assertThat(this.memory.repetitions()).isEqualTo(1);
	}

	@Test
	void keyOfAnotherRequestIsRefused() {
		this.memory.answer("a", "10");
		assertThat(this.memory.answer("a", "11").kind()).isEqualTo(Kind.MISUSED);
		assertThat(this.memory.effects()).isEqualTo(1);
		assertThat(this.memory.repetitions()).isZero();
	}

	@Test
	void oneOfManyAtOnceHasTheEffect() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(8);
		try {
			Callable<Answer> request = () -> this.memory.answer("a", "10");
			for (Future<Answer> answer : threads.invokeAll(List.of(request, request, request, request, request))) {
				assertThat(answer.get().text()).isEqualTo("payment-1");
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(this.memory.effects()).isEqualTo(1);
		assertThat(this.memory.repetitions()).isEqualTo(4);
	}

}
