package io.github.singletonjob.sample.company.statements;

import java.util.List;

import io.github.singletonjob.IdempotencyKey;
import io.github.singletonjob.JobRun;
import org.junit.jupiter.api.Test;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;

class StatementJobTests {

	private final StatementBook book = mock(StatementBook.class);

	private final MailProvider mailProvider = mock(MailProvider.class);

	private final JobRun run = mock(JobRun.class);

	private final StatementJob job = new StatementJob(this.book, this.mailProvider, this.run);

	private final Statement first = new Statement(1, "one@mail.example", 7, 500);

	private final Statement second = new Statement(2, "two@mail.example", 7, 600);

	@Test
	void writesUntilNothingIsMissingThenMails() {
		given(this.run.idempotencyKey(any(Object[].class)))
			.willAnswer((call) -> IdempotencyKey.of(call.getArguments()));
		given(this.book.missing(anyInt())).willReturn(List.of(this.first))
			.willReturn(List.of(this.second))
			.willReturn(List.of());
		given(this.book.unmailed(anyInt())).willReturn(List.of(this.first, this.second)).willReturn(List.of());
		this.job.writeAndMail();
		var order = inOrder(this.book, this.mailProvider);
		order.verify(this.book).write(List.of(this.first));
		order.verify(this.book).write(List.of(this.second));
		order.verify(this.mailProvider).send(this.first, IdempotencyKey.of("statement", 1L, 7L));
		order.verify(this.mailProvider).send(this.second, IdempotencyKey.of("statement", 2L, 7L));
		order.verify(this.book).markMailed(List.of(this.first, this.second));
	}

	@Test
	void doesNothingWhenEverythingIsDone() {
		given(this.book.missing(anyInt())).willReturn(List.of());
		given(this.book.unmailed(anyInt())).willReturn(List.of());
		this.job.writeAndMail();
		then(this.mailProvider).shouldHaveNoInteractions();
	}

}
