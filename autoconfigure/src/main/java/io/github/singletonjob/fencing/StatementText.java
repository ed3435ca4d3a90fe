package io.github.singletonjob.fencing;

/**
 * Reads the first words of each statement in a text, as Postgres' lexer would: comments
 * nest, and a semicolon inside a string, a quoted name or a dollar quote ends nothing.
 */
final class StatementText {

	private final String sql;

	private final boolean backslashEscapes;

	private int position;

	private boolean started;

	/**
	 * Creates a reader.
	 * @param sql the text
	 * @param backslashEscapes whether a backslash escapes in every string, as with
	 * standard_conforming_strings=off, or only in E'…'
	 */
	StatementText(String sql, boolean backslashEscapes) {
		this.sql = sql;
		this.backslashEscapes = backslashEscapes;
	}

	/**
	 * Moves to the next statement.
	 * @return false if there is none
	 */
	boolean nextStatement() {
		if (this.started) {
			skipStatement();
		}
		this.started = true;
		skipBlank();
		while (at(this.position) == ';') {
			this.position++;
			skipBlank();
		}
		return this.position < this.sql.length();
	}

	/**
	 * Whether the statement begins with a JDBC escape that is no call. Drivers take the
	 * braces away, and what is inside becomes the statement: with some, {@code {oj
	 * COMMIT}} commits.
	 * @return whether it is such an escape
	 */
	boolean isEscape() {
		if (at(this.position) != '{') {
			return false;
		}
		int start = this.position++;
		boolean call = word().equalsIgnoreCase("call") || at(this.position) == '?';
		this.position = start;
		return !call;
	}

	/**
	 * Reads a word.
	 * @return the next word of the statement, or an empty text if something else is next
	 */
	String word() {
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
		}
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

}
