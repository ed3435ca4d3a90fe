package io.github.singletonjob.rows;

import java.util.function.Consumer;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.jpa.FencingToken;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.servers.PostgresServer;
import jakarta.persistence.Basic;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.annotations.OptimisticLock;
import org.hibernate.annotations.SoftDelete;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/**
 * The rules of {@link FencingToken}, with Hibernate alone: no Spring transaction and no
 * transaction fence.
 */
@Timeout(120)
class FencingTokenTests {

	private static final InvoiceDatabase database = new InvoiceDatabase();

	private static EntityManagerFactory factory;

	private final LeasedRun run = Runs.of("billing", 33);

	private EntityManager entities;

	@BeforeAll
	static void start() {
		database.execute("create table memo (id bigint primary key, text text, version bigint not null, fence bigint)");
		factory = entityManagers(Invoice.class, Memo.class);
	}

	@AfterAll
	static void stop() {
		factory.close();
	}

	@BeforeEach
	void open() {
		database.reset();
		database.execute("truncate memo");
		this.entities = factory.createEntityManager();
	}

	@AfterEach
	void close() {
		this.entities.close();
	}

	@Test
	void aRunWritesItsTokenOnInsertAndUpdate() {
		Runs.in(this.run, () -> {
			Invoice fresh = inTransaction(() -> {
				Invoice invoice = new Invoice(3);
				this.entities.persist(invoice);
				return invoice;
			});
			assertThat(fresh.getFence()).isEqualTo(33);
			update(1, (invoice) -> invoice.setStatus("CHARGED"));
		});
		assertThat(database.fence(3)).isEqualTo(33);
		assertThat(database.fence(1)).isEqualTo(33);
		assertThat(database.fence(2)).isZero();
		verify(this.run, never()).refused(any());
	}

	@Test
	void aRunThatChangesNothingWritesNoToken() {
		Runs.in(this.run, () -> update(1, (invoice) -> invoice.setStatus("OPEN")));
		assertThat(database.fence(1)).isZero();
	}

	@Test
	void aRunMayWriteARowAgain() {
		Runs.in(this.run, () -> {
			update(1, (invoice) -> invoice.setStatus("ONCE"));
			update(1, (invoice) -> {
				invoice.setStatus("TWICE");
				this.entities.flush();
				invoice.setStatus("THRICE");
			});
		});
		assertThat(database.status(1)).isEqualTo("THRICE");
	}

	@Test
	void theTokenNeverGoesDown() {
		database.write(34);
		Runs.in(this.run, () -> {
			Throwable refusal = catchThrowable(() -> update(1, (invoice) -> invoice.setStatus("STALE")));
			assertThat(causeOf(refusal, StaleTokenException.class)).hasMessage("billing: a row of "
					+ Invoice.class.getName()
					+ " carries token 34, so it is not written with token 33: a newer run has written it, or another"
					+ " job")
				.satisfies((ex) -> verify(this.run).refused(ex));
		});
		assertThat(database.status(1)).isEqualTo("NEW");
	}

	@Test
	void aLowerValueInTheEntityDoesNotHelp() {
		database.write(34);
		Runs.in(this.run, () -> {
			Throwable refusal = catchThrowable(() -> update(1, (invoice) -> {
				invoice.setStatus("STALE");
				invoice.setFence(0);
			}));
			assertThat(causeOf(refusal, StaleTokenException.class)).isNotNull();
		});
		assertThat(database.status(1)).isEqualTo("NEW");
	}

	@Test
	void anEntityThatWasReadBeforeTheTakeoverIsRefusedByItsVersion() {
		Runs.in(this.run, () -> {
			Throwable refusal = catchThrowable(() -> update(1, (invoice) -> {
				database.write(34);
				invoice.setStatus("STALE");
			}));
			assertThat(causeOf(refusal, OptimisticLockException.class)).isNotNull();
		});
		assertThat(database.status(1)).isEqualTo("NEW");
		assertThat(database.fence(1)).isEqualTo(34);
	}

	@Test
	void aStatementBesideTheEntityHasToRaiseTheVersion() {
		Runs.in(this.run, () -> update(1, (invoice) -> {
			database.execute("update invoice set status = 'NEW', fence = 34 where id = 1");
			invoice.setStatus("STALE");
		}));
		assertThat(database.status(1)).as("not caught, as the documentation says").isEqualTo("STALE");
	}

	@Test
	void aDeleteIsRefusedLikeAnUpdate() {
		database.write(34);
		Runs.in(this.run, () -> {
			Throwable refusal = catchThrowable(() -> update(1, this.entities::remove));
			assertThat(causeOf(refusal, StaleTokenException.class)).isNotNull();
		});
		assertThat(database.status(1)).isEqualTo("NEW");
		Runs.in(Runs.of("billing", 34), () -> update(1, this.entities::remove));
		update(2, this.entities::remove);
		assertThat(database.number("select count(*) from invoice")).isZero();
	}

	@Test
	void aDetachedEntityOfAnOlderRunIsRefused() {
		Invoice detached = update(1, this.entities::detach);
		database.write(34);
		detached.setStatus("STALE");
		Runs.in(this.run, () -> assertThatException().isThrownBy(() -> merge(detached)));
		assertThat(database.status(1)).isEqualTo("NEW");
	}

	@Test
	void aDetachedEntityThatBringsAnotherTokenDoesNotLowerTheRows() {
		database.write(34);
		Invoice detached = update(1, this.entities::detach);
		detached.setStatus("EDITED");
		detached.setFence(0);
		Invoice merged = merge(detached);
		assertThat(merged.getFence()).isEqualTo(34);
		assertThat(database.status(1)).isEqualTo("EDITED");
		assertThat(database.fence(1)).isEqualTo(34);
	}

	@Test
	void aDetachedEntityInsideTheRunOfItsTimeIsWritten() {
		Invoice detached = update(1, this.entities::detach);
		detached.setStatus("CHARGED");
		Runs.in(this.run, () -> merge(detached));
		assertThat(database.status(1)).isEqualTo("CHARGED");
		assertThat(database.fence(1)).isEqualTo(33);
	}

	@Test
	void outsideOfAnyRunTheValueStays() {
		database.write(34);
		update(1, (invoice) -> {
			invoice.setStatus("EDITED");
			invoice.setFence(5);
		});
		assertThat(database.status(1)).isEqualTo("EDITED");
		assertThat(database.fence(1)).isEqualTo(34);
	}

	@Test
	void outsideOfAnyRunAGreaterValueInTheEntityIsNotWritten() {
		database.write(34);
		update(1, (invoice) -> {
			invoice.setStatus("EDITED");
			invoice.setFence(9_000_000_000_000_000L);
		});
		assertThat(database.fence(1)).isEqualTo(34);
		Invoice detached = update(1, this.entities::detach);
		detached.setStatus("MERGED");
		detached.setFence(9_000_000_000_000_000L);
		assertThat(merge(detached).getFence()).isEqualTo(34);
		assertThat(database.fence(1)).isEqualTo(34);
		assertThat(database.status(1)).isEqualTo("MERGED");
	}

	@Test
	void insideARunAGreaterValueInTheEntityDoesNotCount() {
		Runs.in(this.run, () -> update(1, (invoice) -> {
			invoice.setStatus("CHARGED");
			invoice.setFence(9_000_000_000_000_000L);
		}));
		assertThat(database.status(1)).isEqualTo("CHARGED");
		assertThat(database.fence(1)).isEqualTo(33);
	}

	@Test
	void anInsertDoesNotWriteTheValueOfTheEntity() {
		inTransaction(() -> {
			Invoice invoice = new Invoice(3);
			invoice.setFence(77);
			this.entities.persist(invoice);
			return invoice;
		});
		assertThat(database.fence(3)).isZero();
		Runs.in(this.run, () -> inTransaction(() -> {
			Invoice invoice = new Invoice(4);
			invoice.setFence(77);
			this.entities.persist(invoice);
			return invoice;
		}));
		assertThat(database.fence(4)).isEqualTo(33);
	}

	@Test
	void anUpsertIsRefused() {
		database.write(34);
		for (LeasedRun bound : new LeasedRun[] { this.run, null }) {
			Runnable upsert = () -> {
				try (StatelessSession session = factory.unwrap(SessionFactory.class).openStatelessSession()) {
					session.upsert(new Invoice(1));
				}
			};
			Throwable refusal = catchThrowable(() -> {
				if (bound != null) {
					Runs.in(bound, upsert);
				}
				else {
					upsert.run();
				}
			});
			assertThat(causeOf(refusal, UnsupportedOperationException.class))
				.hasMessageContaining("read it and update it");
		}
		assertThat(database.status(1)).isEqualTo("NEW");
		assertThat(database.fence(1)).isEqualTo(34);
	}

	@Test
	void aVersionThatIsOnlyIncrementedIsComparedAsInAnUpdate() {
		Runs.in(this.run, () -> {
			Throwable refusal = catchThrowable(() -> inTransaction(() -> {
				Invoice invoice = this.entities.find(Invoice.class, 1L, LockModeType.OPTIMISTIC_FORCE_INCREMENT);
				database.write(34);
				return invoice;
			}));
			assertThat(causeOf(refusal, OptimisticLockException.class)).isNotNull();
		});
		assertThat(database.fence(1)).isEqualTo(34);
	}

	@Test
	void outsideOfAnyRunAnInsertWritesZero() {
		inTransaction(() -> {
			this.entities.persist(new Invoice(3));
			Memo memo = new Memo();
			this.entities.persist(memo);
			return memo;
		});
		assertThat(database.fence(3)).isZero();
		assertThat(database.number("select fence from memo")).isZero();
	}

	@Test
	void aRowThatIsOlderThanItsColumnIsTakenForZero() {
		database.execute("insert into memo values (1, 'old', 0, null)");
		Runs.in(Runs.of("memos", 33), () -> inTransaction(() -> {
			this.entities.find(Memo.class, 1).text = "new";
			return this;
		}));
		assertThat(database.number("select fence from memo")).isEqualTo(33);
	}

	@Test
	void aRunThatIsOverWritesNothing() {
		willThrow(new LeaseLostException("billing", 33, "over")).given(this.run).ensureOpen();
		Runs.in(this.run, () -> {
			Throwable update = catchThrowable(() -> update(1, (invoice) -> invoice.setStatus("LATE")));
			assertThat(causeOf(update, LeaseLostException.class)).isNotNull();
			Throwable insert = catchThrowable(() -> inTransaction(() -> {
				this.entities.persist(new Invoice(3));
				return this;
			}));
			assertThat(causeOf(insert, LeaseLostException.class)).isNotNull();
			Throwable delete = catchThrowable(() -> update(2, this.entities::remove));
			assertThat(causeOf(delete, LeaseLostException.class)).isNotNull();
		});
		assertThat(database.number("select count(*) from invoice where status = 'OPEN'")).isEqualTo(2);
	}

	@Test
	void inNestedRunsTheInnermostCounts() {
		Runs.in(this.run, () -> Runs.in(Runs.inside(this.run, "reminders", 1033),
				() -> update(1, (invoice) -> invoice.setStatus("REMINDED"))));
		assertThat(database.fence(1)).isEqualTo(1033);
	}

	@Test
	void aNamedJobIsLookedForInTheRunsAround() {
		database.execute("insert into memo values (1, 'old', 0, 7)");
		LeasedRun memos = Runs.of("memos", 33);
		Runs.in(Runs.inside(memos, "reminders", 1033), () -> write("by the outer run"));
		assertThat(database.number("select fence from memo")).isEqualTo(33);
		Runs.in(this.run, () -> write("by another job: as outside of any run"));
		assertThat(database.number("select fence from memo")).isEqualTo(33);
		database.execute("update memo set fence = 34, version = version + 1");
		Runs.in(Runs.inside(memos, "reminders", 1033),
				() -> assertThatException().isThrownBy(() -> write("by the outer run, which is stale")));
		assertThat(database.number("select count(*) from memo where text like 'by another%'")).isEqualTo(1);
	}

	@Test
	void aStatelessSessionComparesTheTokenOfTheRow() {
		database.write(34);
		Runs.in(this.run, () -> {
			try (StatelessSession session = factory.unwrap(SessionFactory.class).openStatelessSession()) {
				Invoice invoice = session.get(Invoice.class, 1L);
				invoice.setStatus("STALE");
				invoice.setFence(0);
				assertThatException().isThrownBy(() -> session.update(invoice)).isInstanceOf(StaleTokenException.class);
				invoice.setFence(34);
				assertThatException().isThrownBy(() -> session.delete(invoice)).isInstanceOf(StaleTokenException.class);
			}
		});
		assertThat(database.status(1)).isEqualTo("NEW");
	}

	@Test
	void entitiesAreWrittenInBatches() {
		database.execute("insert into invoice (id) select generate_series(3, 100)");
		database.execute("update invoice set fence = 34 where id = 90");
		Runs.in(this.run, () -> {
			Throwable refusal = catchThrowable(() -> inTransaction(() -> {
				this.entities.createQuery("from Invoice order by id", Invoice.class)
					.getResultList()
					.forEach((invoice) -> invoice.setStatus("STALE"));
				return this;
			}));
			assertThat(causeOf(refusal, StaleTokenException.class)).isNotNull();
		});
		assertThat(database.number("select count(*) from invoice where status = 'STALE'")).isZero();
	}

	@ParameterizedTest
	@ValueSource(classes = { WithExcludedAttribute.class, WithExcludedCollection.class, WithSoftDelete.class,
			WithLazyToken.class, WithoutVersion.class, WithText.class, NotUpdatable.class, WithEmbedded.class })
	void whatCannotWorkIsRefusedAtStart(Class<?> entity) {
		Throwable refusal = catchThrowable(() -> entityManagers(entity).close());
		String message = entity.getAnnotation(Refused.class).value();
		assertThat(refusal).rootCause().hasMessageContaining("@FencingToken 'fence'").hasMessageContaining(message);
	}

	private void write(String text) {
		inTransaction(() -> {
			this.entities.find(Memo.class, 1).text = text;
			return this;
		});
	}

	private Invoice merge(Invoice detached) {
		return inTransaction(() -> this.entities.merge(detached));
	}

	private Invoice update(long id, Consumer<Invoice> change) {
		return inTransaction(() -> {
			Invoice invoice = this.entities.find(Invoice.class, id);
			change.accept(invoice);
			return invoice;
		});
	}

	private <T> T inTransaction(java.util.function.Supplier<T> work) {
		this.entities.getTransaction().begin();
		try {
			T result = work.get();
			this.entities.getTransaction().commit();
			return result;
		}
		finally {
			if (this.entities.getTransaction().isActive()) {
				this.entities.getTransaction().rollback();
			}
			this.entities.clear();
		}
	}

	private static <T extends Throwable> T causeOf(Throwable thrown, Class<T> type) {
		for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
			if (type.isInstance(cause)) {
				return type.cast(cause);
			}
		}
		throw new AssertionError("No " + type.getSimpleName() + " among the causes", thrown);
	}

	private static EntityManagerFactory entityManagers(Class<?>... types) {
		LocalContainerEntityManagerFactoryBean bean = new LocalContainerEntityManagerFactoryBean();
		bean.setDataSource(new DriverManagerDataSource(database.url(), PostgresServer.USERNAME, ""));
		bean.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
		bean.getJpaPropertyMap().put("hibernate.jdbc.batch_size", "10");
		bean.setManagedTypes(
				PersistenceManagedTypes.of(java.util.Arrays.stream(types).map(Class::getName).toArray(String[]::new)));
		bean.afterPropertiesSet();
		return bean.getObject();
	}

	/**
	 * A row of a table that got its column later, and that one job guards.
	 */
	@Entity(name = "Memo")
	@Table(name = "memo")
	static class Memo {

		@Id
		private long id = 1;

		private String text;

		@Version
		private long version;

		@FencingToken(job = "memos")
		private Long fence;

		long getId() {
			return this.id;
		}

		long getVersion() {
			return this.version;
		}

		Long getFence() {
			return this.fence;
		}

	}

	/** What is said of an entity at start. */
	@java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME)
	@interface Refused {

		String value();

	}

	@Entity
	@Refused("needs a plain @Version attribute beside it")
	static class WithoutVersion {

		@Id
		long id;

		@FencingToken
		long fence;

	}

	@Entity
	@Refused("a write of 'note' would pass it")
	static class WithExcludedAttribute {

		@Id
		long id;

		@Version
		long version;

		@OptimisticLock(excluded = true)
		String note;

		@FencingToken
		long fence;

	}

	@Entity
	@Refused("a write of 'tags' would pass it")
	static class WithExcludedCollection {

		@Id
		long id;

		@Version
		long version;

		@ElementCollection
		@OptimisticLock(excluded = true)
		java.util.List<String> tags;

		@FencingToken
		long fence;

	}

	@Entity
	@SoftDelete
	@Refused("whose deletes leave version and token as they are")
	static class WithSoftDelete {

		@Id
		long id;

		@Version
		long version;

		@FencingToken
		long fence;

	}

	@Entity
	@Refused("must be of type long")
	static class WithText {

		@Id
		long id;

		@Version
		long version;

		@FencingToken
		String fence;

	}

	@Entity
	@Refused("must not be lazy")
	static class WithLazyToken {

		@Id
		long id;

		@Version
		long version;

		@FencingToken
		@Basic(fetch = FetchType.LAZY)
		long fence;

	}

	@Entity
	@Refused("must be insertable and updatable")
	static class NotUpdatable {

		@Id
		long id;

		@Version
		long version;

		@FencingToken
		@Column(updatable = false)
		long fence;

	}

	@Entity
	@Refused("not of an embeddable")
	static class WithEmbedded {

		@Id
		long id;

		@Version
		long version;

		@Embedded
		Stamp stamp;

	}

	@Embeddable
	static class Stamp {

		@FencingToken
		long fence;

	}

}
