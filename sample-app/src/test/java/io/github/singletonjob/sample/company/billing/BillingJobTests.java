package io.github.singletonjob.sample.company.billing;

import java.util.List;

import io.github.singletonjob.IdempotencyKey;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.LeaseLostException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.BDDMockito.willDoNothing;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;

class BillingJobTests {

	private final InvoiceBook book = mock(InvoiceBook.class);

	private final CardNetwork cardNetwork = mock(CardNetwork.class);

	private final JobRun run = mock(JobRun.class);

	private final BillingJob job = new BillingJob(this.book, this.cardNetwork, this.run);

	private final Invoice first = new Invoice(1, 7, 500);

	private final Invoice second = new Invoice(2, 7, 600);

	@BeforeEach
	void openInvoices() {
		given(this.book.periodToBill()).willReturn(7L);
		given(this.book.openInvoices(7)).willReturn(List.of(this.first, this.second));
		given(this.run.idempotencyKey(any(Object[].class)))
			.willAnswer((call) -> IdempotencyKey.of(call.getArguments()));
		given(this.cardNetwork.charge(any(), any())).willReturn("payment");
	}

	@Test
	void chargesEachCustomerAndClosesThePeriod() {
		this.job.chargeEveryone();
		var order = inOrder(this.cardNetwork, this.book);
		order.verify(this.cardNetwork).charge(this.first, IdempotencyKey.of("invoice", 1L, 7L));
		order.verify(this.book).recordCharge(this.first.getId(), "payment");
		order.verify(this.cardNetwork).charge(this.second, IdempotencyKey.of("invoice", 2L, 7L));
		order.verify(this.book).recordCharge(this.second.getId(), "payment");
		order.verify(this.book).close(7);
	}

	@Test
	void stopsBetweenTwoCustomersWhenTheLeaseIsLost() {
		willDoNothing().willThrow(new LeaseLostException("billing", 3, "frozen for too long"))
			.given(this.run)
			.ensureHeld();
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(this.job::chargeEveryone);
		then(this.cardNetwork).should().charge(this.first, IdempotencyKey.of("invoice", 1L, 7L));
		then(this.cardNetwork).shouldHaveNoMoreInteractions();
		then(this.book).should(never()).close(anyLong());
	}

	@Test
	void leavesThePeriodOpenWhenAChargeFails() {
		willThrow(new IllegalStateException("card network is down")).given(this.cardNetwork).charge(any(), any());
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(this.job::chargeEveryone);
		then(this.book).should(never()).recordCharge(anyLong(), any());
		then(this.book).should(never()).close(anyLong());
	}

}
