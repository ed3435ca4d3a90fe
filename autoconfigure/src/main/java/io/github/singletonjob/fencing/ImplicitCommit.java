package io.github.singletonjob.fencing;

import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Statements at which H2 and MariaDB commit what is open, unasked and past the fence. As
 * with {@link TransactionCommand}, this is a guard against accidents.
 */
final class ImplicitCommit {

	private static final Set<String> WORDS = Set.of("CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME", "COMMENT", "GRANT",
			"REVOKE", "LOCK", "UNLOCK", "ANALYZE", "OPTIMIZE", "REPAIR", "CHECK", "FLUSH", "RESET", "XA", "LOAD",
			"INSTALL", "UNINSTALL", "SHUTDOWN", "SCRIPT", "RUNSCRIPT", "CHECKPOINT", "BACKUP");

	private ImplicitCommit() {
	}

	/**
	 * Finds the first statement of that kind.
	 * @param sql one or more statements
	 * @return the command, or null if there is none
	 */
	static @Nullable TransactionCommand find(String sql) {
		if (sql.contains("/*!") || sql.contains("/*M!")) {
			return new TransactionCommand("/*! … */", true, true);
		}
		StatementText text = new StatementText(sql, true);
		while (text.nextStatement()) {
			String word = text.word().toUpperCase(Locale.ROOT);
			if (WORDS.contains(word) || (word.equals("SET") && isAutocommit(text))) {
				return new TransactionCommand(word, true, true);
			}
		}
		return null;
	}

	// SET AUTOCOMMIT, SET SESSION autocommit; the signs of @@autocommit are no letters
	private static boolean isAutocommit(StatementText text) {
		String word = text.word();
		if (word.equalsIgnoreCase("SESSION") || word.equalsIgnoreCase("LOCAL") || word.equalsIgnoreCase("GLOBAL")) {
			word = text.word();
		}
		return word.isEmpty() || word.equalsIgnoreCase("AUTOCOMMIT");
	}

}
