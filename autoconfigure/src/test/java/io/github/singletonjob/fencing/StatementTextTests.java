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
		assertThat(StatementText.findCommand(sql, false)).isNotNull().returns(true, StatementText.Command::end);
	}

	@ParameterizedTest
	@ValueSource(strings = { "begin", "BEGIN WORK", "/**/ begin", "start transaction",
			"select 1; begin isolation level" + " serializable" })
	void beginsATransaction(String sql) {
		assertThat(StatementText.findCommand(sql, false)).isNotNull().returns(false, StatementText.Command::end);
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
		assertThat(StatementText.findCommand(sql, false)).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "select 'C:\\temp\\') + length('; end')", "select 'a\\'; select ';commit'",
			"select e'\\'; commit'", "insert into t values ('\\'), ('; commit')", "select 'a\\\\'; select ';end'" })
	void aBackslashThatIsAnOrdinaryCharacterHidesNothingAndShowsNothing(String sql) {
		assertThat(StatementText.findCommand(sql, true)).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "select 'C:\\temp\\'; commit", "select e'\\''; commit",
			"set standard_conforming_strings = off; select '\\'; commit; select '1'",
			"set STANDARD_Conforming_strings = off; select '\\'' ; commit; --'" })
	void aCommitIsFoundWhereABackslashIsAnOrdinaryCharacter(String sql) {
		assertThat(StatementText.findCommand(sql, true)).isNotNull().returns(true, StatementText.Command::end);
	}

	@Test
	void aBackslashThatMayEscapeCountsInEitherReading() {
		for (String sql : new String[] { "select 'C:\\temp\\') + length('; end')", "select 'a\\'; commit",
				"begin; select 'a\\'' ; commit; --'" }) {
			assertThat(StatementText.findCommand(sql, false)).isNotNull().returns(true, StatementText.Command::end);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { """
			create function f() returns int language sql begin atomic
			insert into t values (1); select case when true then 1 end; end""", """
			/* x */ CREATE OR REPLACE PROCEDURE p(a int) LANGUAGE sql BEGIN /* y */ ATOMIC
			delete from t where a = ';'; update t set b = case a when 1 then case when true then 1 end end; END;
			select 1""", "create function f() returns void begin atomic end", """
			create function f() returns text begin atomic select $$ end $$; select 'end'; select "end" from t; end""" })
	void theStatementsOfARoutineBelongToIt(String sql) {
		assertThat(StatementText.findCommand(sql, true)).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "create function f() returns int language sql begin atomic select 1; end; commit",
			"create function f() returns int begin atomic select case when true then 1 end; end; commit",
			"create function f() returns int begin atomic select 1; commit",
			"create procedure p() begin atomic select case when true; commit; end",
			"create function begin(begin atomic) returns int return 1; commit; select 1",
			"create function \"begin\"() returns int as 'atomic'; commit", "create or replace table t as select 1; end",
			"create table begin (a atomic); commit", "begin atomic; end",
			"create function f() returns int as $$ begin atomic $$; commit",
			"create function f() returns int return 1; begin; select 1; end" })
	void aCommitAfterARoutineIsFound(String sql) {
		assertThat(StatementText.findCommand(sql, true)).isNotNull().returns(true, StatementText.Command::end);
	}

	@ParameterizedTest
	@ValueSource(strings = { "rollback to a", "ROLLBACK WORK TO a", "select 1;\nRollback to a", "/**/rollback/**/to a",
			"select 1 -- rollback" })
	void mayRollBack(String sql) {
		assertThat(StatementText.mayRollBack(sql)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "rollbac", "select 1", "release a", "roll back" })
	void doesNotRollBack(String sql) {
		assertThat(StatementText.mayRollBack(sql)).isFalse();
	}

	@Test
	void aLongTextIsReadInOneGo() {
		String sql = "insert into t values ('" + "x;''".repeat(200_000) + "'); ".repeat(1)
				+ "select 1;".repeat(100_000);
		assertThat(StatementText.findCommand(sql, false)).isNull();
		assertThat(StatementText.findCommand(sql + "commit", false)).isNotNull();
	}

}
