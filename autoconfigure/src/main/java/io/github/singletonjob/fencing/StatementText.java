package io.github.singletonjob.fencing;

import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Finds statements that begin or end a transaction by their text, and so past the
 * connection's own methods. This is a guard against accidents: who wants to hide a
 * command from it can.
 * <p>
 * The first words of each statement are read as Postgres' lexer would: comments nest, and
 * a semicolon inside a string, a quoted name or a dollar quote ends nothing.
 */
final class StatementText {

	// At these, H2 and MariaDB commit what is open
	private static final Set<String> COMMITTING = Set.of("CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME", "COMMENT",
			"GRANT", "REVOKE", "LOCK", "UNLOCK", "ANALYZE", "OPTIMIZE", "REPAIR", "CHECK", "FLUSH", "RESET", "XA",
			"LOAD", "INSTALL", "UNINSTALL", "SHUTDOWN", "SCRIPT", "RUNSCRIPT", "CHECKPOINT", "BACKUP");

	private final String sql;

	private final boolean backslashEscapes;

	private int position;

	private boolean started;

	// Whether the statement creates a function or procedure
	private boolean routine;

	/**
	 * Creates a reader.
	 * @param sql the text
	 * @param backslashEscapes whether a backslash escapes in every string, as with
	 * standard_conforming_strings=off, or only in E'…'
	 */
	private StatementText(String sql, boolean backslashEscapes) {
		this.sql = sql;
		this.backslashEscapes = backslashEscapes;
	}

	/**
	 * Finds the first statement that begins a transaction, or one that ends it if there
	 * is any.
	 * @param sql one or more statements
	 * @param conforming whether a backslash certainly escapes in E'…' only; else what
	 * either reading finds counts
	 * @return the command, or null if there is none
	 */
	static @Nullable Command findCommand(String sql, boolean conforming) {
		Command found = new StatementText(sql, false).findCommand();
		if (sql.indexOf('\\') < 0 || (conforming && !contains(sql, "standard_conforming_strings"))) {
			return found;
		}
		Command escaped = new StatementText(sql, true).findCommand();
		return (found == null || (escaped != null && escaped.end())) ? escaped : found;
	}

	/**
	 * Whether a text may roll back to a savepoint.
	 * @param sql one or more statements
	 * @return false if it certainly does not
	 */
	static boolean mayRollBack(String sql) {
		return contains(sql, "rollback");
	}

	private static boolean contains(String sql, String word) {
		for (int i = 0; i <= sql.length() - word.length(); i++) {
			if (sql.regionMatches(true, i, word, 0, word.length())) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Finds the first statement at which H2 and MariaDB commit what is open, unasked and
	 * past the fence.
	 * @param sql one or more statements
	 * @return the command, or null if there is none
	 */
	static @Nullable Command findImplicitCommit(String sql) {
		if (sql.contains("/*!") || sql.contains("/*M!")) {
			return new Command("/*! … */", true, true);
		}
		StatementText text = new StatementText(sql, true);
		while (text.nextStatement()) {
			String word = text.word().toUpperCase(Locale.ROOT);
			if (COMMITTING.contains(word) || (word.equals("SET") && text.isAutocommit())) {
				return new Command(word, true, true);
			}
		}
		return null;
	}

	private @Nullable Command findCommand() {
		Command begin = null;
		while (nextStatement()) {
			Command command = command();
			if (command != null && command.end()) {
				return command;
			}
			begin = (begin != null) ? begin : command;
		}
		return begin;
	}

	private @Nullable Command command() {
		if (isEscape()) {
			return new Command("{…}", true, false);
		}
		String word = word().toUpperCase(Locale.ROOT);
		return switch (word) {
			case "COMMIT", "END", "ABORT" -> new Command(word, true, false);
			case "ROLLBACK" -> rollback();
			case "PREPARE" ->
				word().equalsIgnoreCase("TRANSACTION") ? new Command("PREPARE TRANSACTION", true, false) : null;
			case "BEGIN" -> new Command(word, false, false);
			case "START" -> new Command("START TRANSACTION", false, false);
			case "CREATE" -> {
				this.routine = isRoutine();
				yield null;
			}
			default -> null;
		};
	}

	// ROLLBACK counts, because what follows it in the same text would be committed by
	// itself; ROLLBACK TO a savepoint does not
	private @Nullable Command rollback() {
		String next = word();
		if (next.equalsIgnoreCase("WORK") || next.equalsIgnoreCase("TRANSACTION")) {
			next = word();
		}
		return next.equalsIgnoreCase("TO") ? null : new Command("ROLLBACK", true, false);
	}

	private boolean isRoutine() {
		String word = word();
		if (word.equalsIgnoreCase("OR") && word().equalsIgnoreCase("REPLACE")) {
			word = word();
		}
		return word.equalsIgnoreCase("FUNCTION") || word.equalsIgnoreCase("PROCEDURE");
	}

	// SET AUTOCOMMIT, SET SESSION autocommit; the signs of @@autocommit are no letters
	private boolean isAutocommit() {
		String word = word();
		if (word.equalsIgnoreCase("SESSION") || word.equalsIgnoreCase("LOCAL") || word.equalsIgnoreCase("GLOBAL")) {
			word = word();
		}
		return word.isEmpty() || word.equalsIgnoreCase("AUTOCOMMIT");
	}

	private boolean nextStatement() {
		if (this.started) {
			skipStatement();
		}
		this.started = true;
		this.routine = false;
		skipBlank();
		while (at(this.position) == ';') {
			this.position++;
			skipBlank();
		}
		return this.position < this.sql.length();
	}

	// A JDBC escape that is no call: drivers take the braces away, and what is inside
	// becomes the statement. With some, {oj COMMIT} commits
	private boolean isEscape() {
		if (at(this.position) != '{') {
			return false;
		}
		int start = this.position++;
		boolean call = word().equalsIgnoreCase("call") || at(this.position) == '?';
		this.position = start;
		return !call;
	}

	// The next word of the statement, or an empty text if something else is next
	private String word() {
		skipBlank();
		int start = this.position;
		while (isIdentifier(this.position)) {
			this.position++;
		}
		return this.sql.substring(start, this.position);
	}

	private void skipStatement() {
		if (this.sql.indexOf(';', this.position) < 0) {
			this.position = this.sql.length();
			return;
		}
		int start = this.position;
		if (this.routine && skipRoutine()) {
			return;
		}
		this.position = start;
		while (this.position < this.sql.length()) {
			char next = at(this.position);
			if (next == ';') {
				this.position++;
				return;
			}
			if (!skipComment() && !skipQuoted(next)) {
				this.position++;
			}
		}
	}

	// The statements between BEGIN ATOMIC and END are part of the routine. Where the END
	// is
	// missing, each is read as one of its own
	private boolean skipRoutine() {
		String previous = "";
		int depth = 0;
		int parentheses = 0;
		while (this.position < this.sql.length() && (depth > 0 || at(this.position) != ';')) {
			char next = at(this.position);
			if (skipComment() || skipQuoted(next)) {
				continue;
			}
			if (!isIdentifier(this.position)) {
				parentheses += (next == '(') ? 1 : (next == ')') ? -1 : 0;
				this.position++;
				continue;
			}
			String word = word().toUpperCase(Locale.ROOT);
			if (depth == 0) {
				depth = (parentheses == 0 && previous.equals("BEGIN") && word.equals("ATOMIC")) ? 1 : 0;
			}
			else if (word.equals("CASE")) {
				depth++;
			}
			else if (word.equals("END")) {
				depth--;
			}
			previous = word;
		}
		return depth == 0;
	}

	private void skipBlank() {
		while (this.position < this.sql.length()) {
			char next = at(this.position);
			if (next <= ' ' || Character.isWhitespace(next)) {
				this.position++;
			}
			else if (!skipComment()) {
				return;
			}
		}
	}

	private boolean skipComment() {
		if (this.sql.startsWith("--", this.position)) {
			while (this.position < this.sql.length() && at(this.position) != '\n' && at(this.position) != '\r') {
				this.position++;
			}
			return true;
		}
		if (this.sql.startsWith("/*", this.position)) {
			skipBlockComment();
			return true;
		}
		return false;
	}

	private void skipBlockComment() {
		int depth = 0;
		do {
			if (this.sql.startsWith("/*", this.position)) {
				depth++;
				this.position += 2;
			}
			else if (this.sql.startsWith("*/", this.position)) {
				depth--;
				this.position += 2;
			}
			else {
				this.position++;
			}
		}
		while (depth > 0 && this.position < this.sql.length());
	}

	private boolean skipQuoted(char quote) {
		if (quote == '\'') {
			skipToClosing(quote, this.backslashEscapes || isEscapeString());
			return true;
		}
		if (quote == '"') {
			skipToClosing(quote, false);
			return true;
		}
		return quote == '$' && !isIdentifier(this.position - 1) && skipDollarQuoted();
	}

	private boolean isEscapeString() {
		char prefix = at(this.position - 1);
		return (prefix == 'e' || prefix == 'E') && !isIdentifier(this.position - 2);
	}

	// A doubled quote closes and opens again, which comes to the same
	private void skipToClosing(char quote, boolean escapes) {
		this.position++;
		while (this.position < this.sql.length() && at(this.position) != quote) {
			this.position += (escapes && at(this.position) == '\\') ? 2 : 1;
		}
		this.position++;
	}

	private boolean skipDollarQuoted() {
		int end = this.position + 1;
		if (!Character.isDigit(at(end))) {
			while (isIdentifier(end) && at(end) != '$') {
				end++;
			}
		}
		if (at(end) != '$') {
			return false;
		}
		String tag = this.sql.substring(this.position, end + 1);
		int closing = this.sql.indexOf(tag, end + 1);
		this.position = (closing >= 0) ? closing + tag.length() : this.sql.length();
		return true;
	}

	private boolean isIdentifier(int index) {
		char character = at(index);
		return Character.isLetterOrDigit(character) || character == '_' || character == '$' || character >= 0x80;
	}

	private char at(int index) {
		return (index >= 0 && index < this.sql.length()) ? this.sql.charAt(index) : ' ';
	}

	/**
	 * A statement that begins or ends a transaction.
	 *
	 * @param text its first words
	 * @param end whether it ends a transaction, else it begins one
	 * @param implicit whether it ends it unasked, as a definition of a table does in some
	 * databases
	 */
	record Command(String text, boolean end, boolean implicit) {
	}

}
