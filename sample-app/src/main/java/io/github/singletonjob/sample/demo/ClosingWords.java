package io.github.singletonjob.sample.demo;

import org.springframework.dao.DataAccessException;

/**
 * The last lines: what the books and the outside world say when no server writes any
 * more.
 */
final class ClosingWords implements AutoCloseable {

	private final Ledger ledger;

	private final OutsideWorld outsideWorld;

	private final Terminal terminal;

	ClosingWords(Ledger ledger, OutsideWorld outsideWorld, Terminal terminal) {
		this.ledger = ledger;
		this.outsideWorld = outsideWorld;
		this.terminal = terminal;
	}

	@Override
	public void close() {
		try {
			this.terminal.tell("In the books: %d customers charged twice, %d statements written twice"
				.formatted(this.ledger.chargedTwice(), this.ledger.statementsTwice()));
		}
		catch (DataAccessException ex) {
			this.terminal.tell("The books cannot be read: " + ex.getMessage());
		}
		this.terminal.tell(this.outsideWorld.describe());
	}

}
