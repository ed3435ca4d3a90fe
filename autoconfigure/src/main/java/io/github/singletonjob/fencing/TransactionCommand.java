package io.github.singletonjob.fencing;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * A statement that begins or ends a transaction by its text, and so past the connection's
 * own methods. ROLLBACK counts, because what follows it in the same text would be
 * committed by itself; ROLLBACK TO a savepoint does not. This is a guard against
 * accidents: who wants to hide a command from it can.
 *
 * @param text its first words
 * @param end whether it ends a transaction, else it begins one
 * @param implicit whether it ends it unasked, as a definition of a table does in some
 * databases
 */
record TransactionCommand(String text, boolean end, boolean implicit) {

	TransactionCommand(String text, boolean end) {
		this(text, end, false);
	}

	/**
	 * Finds the first statement of that kind, or one that ends a transaction if there is
	 * any.
	 * @param sql one or more statements
	 * @return the command, or null if there is none
	 */
	static @Nullable TransactionCommand find(String sql) {
		TransactionCommand found = find(new StatementText(sql, false));
		// Where backslashes count depends on the session: what either reading finds
		// counts
		if (found == null && sql.indexOf('\\') >= 0) {
			found = find(new StatementText(sql, true));
		}
		return found;
	}

	private static @Nullable TransactionCommand find(StatementText text) {
		TransactionCommand begin = null;
		while (text.nextStatement()) {
			TransactionCommand command = of(text);
			if (command != null && command.end()) {
				return command;
			}
			begin = (begin != null) ? begin : command;
		}
		return begin;
	}

	private static @Nullable TransactionCommand of(StatementText text) {
		if (text.isEscape()) {
			return new TransactionCommand("{…}", true);
		}
		String word = text.word().toUpperCase(Locale.ROOT);
		return switch (word) {
			case "COMMIT", "END", "ABORT" -> new TransactionCommand(word, true);
			case "ROLLBACK" -> rollback(text);
			case "PREPARE" -> text.word().equalsIgnoreCase("TRANSACTION")
					? new TransactionCommand("PREPARE TRANSACTION", true) : null;
			case "BEGIN" -> new TransactionCommand(word, false);
			case "START" -> new TransactionCommand("START TRANSACTION", false);
			default -> null;
		};
	}

	private static @Nullable TransactionCommand rollback(StatementText text) {
		String next = text.word();
		if (next.equalsIgnoreCase("WORK") || next.equalsIgnoreCase("TRANSACTION")) {
			next = text.word();
		}
		return next.equalsIgnoreCase("TO") ? null : new TransactionCommand("ROLLBACK", true);
	}

}
