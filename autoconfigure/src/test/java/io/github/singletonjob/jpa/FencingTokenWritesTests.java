package io.github.singletonjob.jpa;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.fencing.RowFence;
import io.github.singletonjob.lease.LeasedRun;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.Version;
import org.hibernate.Hibernate;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StaleObjectStateException;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * What each way of writing does to a row with a token. The table in
 * {@code docs/fencing.md} says what is expected, and each of its cells is tested, with
 * the Hibernate of each Spring Boot.
 */
@Timeout(60)
class FencingTokenWritesTests {

	private static final Path PAGE = Path.of("../docs/fencing.md");

	private static final String URL = "jdbc:h2:mem:writes;DB_CLOSE_DELAY=-1";

	private static final JdbcClient outside = JdbcClient.create(new DriverManagerDataSource(URL));

	private static final Set<Class<?>> REFUSALS = Set.of(StaleTokenException.class, OptimisticLockException.class,
			StaleObjectStateException.class, UnsupportedOperationException.class, IllegalStateException.class);

	private static SessionFactory factory;

	private final LeasedRun run = run(33);

	@BeforeAll
	static void start() {
		factory = new Configuration().addAnnotatedClass(Item.class)
			.setProperty("hibernate.connection.url", URL)
			.setProperty("hibernate.hbm2ddl.auto", "create-drop")
			.buildSessionFactory();
	}

	@AfterAll
	static void stop() {
		factory.close();
	}

	@BeforeEach
	void reset() {
		outside.sql("delete from item_tags").update();
		outside.sql("delete from item").update();
		outside.sql("insert into item (id, status, version, fence) values (1, 'OPEN', 0, 7)").update();
		outside.sql("insert into item_tags (item_id, tags) values (1, 'old')").update();
	}

	static Stream<Arguments> cells() throws IOException {
		Iterator<List<String>> rows = table().listIterator(2);
		List<Arguments> cells = new ArrayList<>();
		for (Way way : Way.values()) {
			Iterator<String> expected = rows.next().listIterator(1);
			for (When when : When.values()) {
				cells.add(Arguments.of(way, when, expected.next()));
			}
		}
		return cells.stream();
	}

	@ParameterizedTest(name = "{0}, {1}: {2}")
	@MethodSource("cells")
	void cell(Way way, When when, String expected) {
		assertThat(outcome(way, when)).isEqualTo(expected);
	}

	@Test
	void theDocumentationHasEachWayAndEachSituation() throws IOException {
		List<List<String>> rows = table();
		assertThat(rows.get(0).subList(1, rows.get(0).size()))
			.containsExactly(Arrays.stream(When.values()).map(When::toString).toArray(String[]::new));
		assertThat(rows.subList(2, rows.size())).extracting((row) -> row.get(0))
			.containsExactly(Arrays.stream(Way.values()).map(Way::toString).toArray(String[]::new));
	}

	private static List<List<String>> table() throws IOException {
		return Files.readAllLines(PAGE)
			.stream()
			.dropWhile((line) -> !line.startsWith("| way of writing |"))
			.takeWhile((line) -> line.startsWith("|"))
			.map((line) -> Arrays.stream(line.substring(1).split("\\|")).map(String::trim).toList())
			.toList();
	}

	private String outcome(Way way, When when) {
		if (way.insert && (when == When.NEWER || when == When.READ_BEFORE)) {
			return "–";
		}
		if (when == When.NEWER) {
			newerRunWrites();
		}
		Map<String, Object> before = new HashMap<>(row());
		Runnable meanwhile = () -> {
			if (when == When.READ_BEFORE) {
				newerRunWrites();
				before.putAll(row());
			}
		};
		Throwable thrown;
		try (var scope = (when == When.OUTSIDE) ? CurrentJobRun.suspend() : CurrentJobRun.open(this.run)) {
			thrown = catchThrowable(() -> write(way, meanwhile));
		}
		Map<String, Object> after = row();
		if (thrown != null) {
			assertThat(thrown).satisfies(FencingTokenWritesTests::isRefusal);
			assertThat(after).isEqualTo(before);
			return "refused";
		}
		assertThat(after).isNotEqualTo(before);
		if (when == When.NEWER || when == When.READ_BEFORE) {
			return "written";
		}
		if (after.isEmpty()) {
			return "deleted";
		}
		long token = (long) after.get("FENCE");
		return (token == 33) ? "the run's token"
				: token == (long) before.get("FENCE") && !way.insert ? "token stays" : "" + token;
	}

	private static void write(Way way, Runnable meanwhile) {
		switch (way) {
			case PERSIST -> inSession((session) -> session.persist(new Item(2)));
			case CHANGE -> inSession((session) -> {
				Item item = session.find(Item.class, 1L);
				meanwhile.run();
				item.write();
			});
			case COLLECTION -> inSession((session) -> {
				Item item = session.find(Item.class, 1L);
				item.tags.add("new");
				meanwhile.run();
			});
			case MERGE -> {
				Item detached = factory.fromSession((session) -> {
					Item item = session.find(Item.class, 1L);
					Hibernate.initialize(item.tags);
					return item;
				});
				meanwhile.run();
				detached.write();
				inSession((session) -> session.merge(detached));
			}
			case REMOVE -> inSession((session) -> {
				Item item = session.find(Item.class, 1L);
				meanwhile.run();
				session.remove(item);
			});
			case OPTIMISTIC -> inSession((session) -> {
				session.find(Item.class, 1L, LockModeType.OPTIMISTIC_FORCE_INCREMENT);
				meanwhile.run();
			});
			case PESSIMISTIC -> inSession((session) -> {
				Item item = session.find(Item.class, 1L);
				meanwhile.run();
				session.lock(item, LockModeType.PESSIMISTIC_FORCE_INCREMENT);
			});
			case STATELESS_INSERT -> stateless((session) -> session.insert(new Item(2)));
			case STATELESS_UPDATE -> stateless((session) -> {
				Item item = session.get(Item.class, 1L);
				meanwhile.run();
				item.write();
				session.update(item);
			});
			case STATELESS_DELETE -> stateless((session) -> {
				Item item = session.get(Item.class, 1L);
				session.fetch(item.tags);
				meanwhile.run();
				session.delete(item);
			});
			case STATELESS_UPSERT -> stateless((session) -> {
				meanwhile.run();
				session.upsert(new Item(1));
			});
			case JPQL -> inSession((session) -> {
				meanwhile.run();
				session.createMutationQuery("update versioned Item set status = 'WRITTEN'").executeUpdate();
			});
			case SQL -> inSession((session) -> {
				meanwhile.run();
				session.createNativeMutationQuery("update item set status = 'WRITTEN'").executeUpdate();
			});
			case JPQL_COMPARED -> inSession((session) -> {
				meanwhile.run();
				RowFence.requireUpdated(session
					.createMutationQuery(
							"update versioned Item set status = 'WRITTEN', fence = :token where fence <= :token")
					.setParameter("token", RowFence.token())
					.executeUpdate());
			});
			case SQL_COMPARED -> inSession((session) -> session.doWork((connection) -> {
				meanwhile.run();
				RowFence.requireUpdated(JdbcClient.create(new SingleConnectionDataSource(connection, true))
					.sql("update item set status = 'WRITTEN', version = version + 1, fence = :token where fence <= :token")
					.param("token", RowFence.token())
					.update());
			}));
		}
	}

	private static void isRefusal(Throwable thrown) {
		Throwable cause = thrown;
		while (!REFUSALS.contains(cause.getClass())) {
			cause = cause.getCause();
			assertThat(cause).as("a refusal among the causes").isNotNull();
		}
	}

	private static void newerRunWrites() {
		outside.sql("update item set status = 'NEW', version = version + 1, fence = 34").update();
	}

	private static Map<String, Object> row() {
		return outside.sql("""
				select i.status, i.version, i.fence, (select listagg(tags) from item_tags where item_id = i.id) tags
				from item i where id in (select max(id) from item)""")
			.query()
			.listOfRows()
			.stream()
			.findFirst()
			.orElse(Map.of());
	}

	private static LeasedRun run(long token) {
		LeasedRun run = mock(LeasedRun.class);
		given(run.job()).willReturn("billing");
		given(run.token()).willReturn(token);
		given(run.enclosing()).willReturn(Optional.empty());
		return run;
	}

	private static void inSession(Consumer<Session> work) {
		factory.inTransaction(work);
	}

	private static void stateless(Consumer<StatelessSession> work) {
		factory.inStatelessTransaction(work);
	}

	/** In which situation it is written. */
	enum When {

		IN_RUN("inside a run"), NEWER("row of a newer run"), READ_BEFORE("row read before a newer run wrote it"),
		OUTSIDE("outside of any run");

		private final String text;

		When(String text) {
			this.text = text;
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

	/** How it is written. */
	enum Way {

		PERSIST("`persist`", true),

		CHANGE("a changed attribute", false),

		COLLECTION("a changed collection that belongs to the row", false),

		MERGE("`merge`", false),

		REMOVE("`remove`", false),

		OPTIMISTIC("`OPTIMISTIC_FORCE_INCREMENT`", false),

		PESSIMISTIC("`PESSIMISTIC_FORCE_INCREMENT`", false),

		STATELESS_INSERT("`insert` by a `StatelessSession`", true),

		STATELESS_UPDATE("`update` by a `StatelessSession`", false),

		STATELESS_DELETE("`delete` by a `StatelessSession`", false),

		STATELESS_UPSERT("`upsert` by a `StatelessSession`", false),

		JPQL("JPQL that does not compare", false),

		SQL("SQL that does not compare", false),

		JPQL_COMPARED("JPQL that compares", false),

		SQL_COMPARED("SQL that compares", false);

		private final String text;

		private final boolean insert;

		Way(String text, boolean insert) {
			this.text = text;
			this.insert = insert;
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

	@Entity(name = "Item")
	static class Item {

		@Id
		long id;

		String status;

		@Version
		long version;

		@FencingToken
		@Column(nullable = false)
		long fence;

		@ElementCollection
		List<String> tags = new ArrayList<>();

		protected Item() {
		}

		Item(long id) {
			this.id = id;
			write();
		}

		/** As a request body does that has all attributes. */
		void write() {
			this.status = "WRITTEN";
			this.fence = 9_000_000_000_000_000L;
		}

	}

}
