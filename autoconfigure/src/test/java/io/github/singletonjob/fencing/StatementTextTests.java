package io.github.singletonjob.fencing;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which texts begin or end a transaction.
 */
@Timeout(10)
class StatementTextTests {

	@ParameterizedTest
	@ValueSource(strings = { "commit", "COMMIT", " \t\r\n\f commit", "commit;", "commit work", "commit and chain",
			"commit prepared 'x'", "end", "END TRANSACTION", "abort", "rollback", "rollback work", "rollback and chain",
			"rollback prepared 'x'", "prepare transaction 'x'", "PREPARE\n/**/TRANSACTION 'x'", "/* a */commit",
			"/* a /* b */ c */ commit", "-- a\ncommit", "-- a\rcommit", "--\n--\ncommit", ";commit",
			"; ; /**/ ; commit", "select 1;commit", "select 1; -- commit\n commit", "select ';';commit",
			"select \";\";commit", "select '''';commit", "select 'a''b';commit", "select \"a\"\"b\";commit",
			"select $$;$$;commit", "select $a$ $$ ; $b$ $a$;commit", "select $1;commit", "select a$b$;commit",
			"select a$b$ + 1;commit;select $b$", "select e'\\'';commit", "select E'\\\\';commit",
			"select U&'\\0041';commit", "select 'a\\';commit", "select '\\'';commit;--'", "select 1 /* ; */;commit",
			"select 1 --;\n;commit", "{oj commit}", "{ fn commit }", "/**/{ojcommit}", "{fn xcommit}",
			"select 1; {oj commit}", "{OJ commit}", "insert into t values (1); end", "begin; commit",
			"rollback to a; commit", "select 1;\u2003commit", "select 1;commit;select 'unclosed", "\u000bcommit",
			"select case when true then ';' end; commit" })
	void endsATransaction(String sql) {
		assertThat(StatementText.findCommand(sql)).isNotNull().returns(true, StatementText.Command::end);
	}

	@ParameterizedTest
	@ValueSource(strings = { "begin", "BEGIN WORK", "/**/ begin", "start transaction",
			"select 1; begin isolation level" + " serializable" })
	void beginsATransaction(String sql) {
		assertThat(StatementText.findCommand(sql)).isNotNull().returns(false, StatementText.Command::end);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", ";", "select 1", "select 'commit'", "select ';commit'", "select \";commit\"",
			"select $$;commit$$", "select $tag$;commit;$tag$", "do $$ begin perform 1; end $$", "commits",
			"commit_all()", "commit1", "endless", "select 1 -- ;commit", "select /* ;commit */ 1",
			"/* commit */ select 1", "-- commit", "select e'\\';commit'", "prepare x as select 1",
			"prepare transactions as select 1", "rollback to savepoint a", "ROLLBACK WORK TO a",
			"rollback /**/ transaction to savepoint a", "savepoint commit", "release savepoint a; select 1",
			"{call commit(?)}", "{CALL pay(?)}", "{ ? = call pay() }", "select {fn now()}", "select {d '2026-01-01'}",
			"{?= call commit()}", "{ call pay() }", "(select 1)", "select case when true then 1 end",
			"with a as (select 1) select 1; select 2", "select 'unclosed;commit", "/* unclosed ;commit",
			"select $$ unclosed;commit", "\"commit\"", "'commit'", "update t set a = 'x;commit' where b = ';'",
			"select '''; commit; --'", "table commit", "select 1 as commit" })
	void doesNeither(String sql) {
		assertThat(StatementText.findCommand(sql)).isNull();
	}

	@Test
	void aLongTextIsReadInOneGo() {
		String sql = "insert into t values ('" + "x;''".repeat(200_000) + "'); ".repeat(1)
				+ "select 1;".repeat(100_000);
		assertThat(StatementText.findCommand(sql)).isNull();
		assertThat(StatementText.findCommand(sql + "commit")).isNotNull();
	}

}
