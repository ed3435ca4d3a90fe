package io.github.singletonjob.jpa;

import java.lang.reflect.Member;
import java.util.EnumSet;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeasedRun;
import org.hibernate.AnnotationException;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.AnnotationBasedGenerator;
import org.hibernate.generator.BeforeExecutionGenerator;
import org.hibernate.generator.EventType;
import org.hibernate.generator.EventTypeSets;
import org.hibernate.generator.GeneratorCreationContext;
import org.hibernate.mapping.Collection;
import org.hibernate.mapping.PersistentClass;
import org.hibernate.mapping.Property;
import org.hibernate.metamodel.mapping.AttributeMapping;
import org.hibernate.persister.entity.EntityPersister;
import org.jspecify.annotations.Nullable;

/**
 * Makes the values of attributes with {@link FencingToken}. Public for Hibernate only,
 * which creates one for each attribute.
 */
public final class FencingTokenGenerator implements AnnotationBasedGenerator<FencingToken>, BeforeExecutionGenerator {

	private static final long serialVersionUID = 1L;

	private String job = "";

	private String entity = "";

	private String attribute = "";

	/**
	 * Called by Hibernate 6.
	 */
	@Override
	@SuppressWarnings("removal")
	public void initialize(FencingToken annotation, Member member, GeneratorCreationContext context) {
		initialize(annotation, context);
	}

	/**
	 * Called by Hibernate 7.
	 */
	@Override
	public void initialize(FencingToken annotation, GeneratorCreationContext context) {
		Property property = context.getProperty();
		PersistentClass owner = context.getPersistentClass();
		this.job = annotation.job();
		this.attribute = property.getName();
		if (owner == null || !owner.getPropertyClosure().contains(property)) {
			throw refusal("must be an attribute of the entity itself, not of an embeddable");
		}
		this.entity = owner.getEntityName();
		Class<?> type = property.getType().getReturnedClass();
		if (type != Long.class && type != long.class) {
			throw refusal("must be of type long");
		}
		if (!property.isInsertable() || !isUpdatable(property)) {
			throw refusal("must be insertable and updatable");
		}
		if (property.isLazy()) {
			throw refusal("must not be lazy, because its value is compared whenever the row is written");
		}
		if (!owner.isVersioned()) {
			throw refusal("needs a plain @Version attribute beside it, because only a version stops an entity that was"
					+ " read before a newer run wrote its row");
		}
		requireThatTheVersionCoversAll(owner);
	}

	/** A write that leaves the version alone could follow that of a newer run. */
	private void requireThatTheVersionCoversAll(PersistentClass owner) {
		for (Property other : owner.getSubclassPropertyClosure()) {
			boolean written = (other.getValue() instanceof Collection collection) ? !collection.isInverse()
					: isUpdatable(other);
			if (written && !other.isOptimisticLocked()) {
				throw refusal("needs a version that covers all attributes, because a write of '" + other.getName()
						+ "' would pass it: remove @OptimisticLock(excluded = true) there");
			}
		}
		if (owner.getRootClass().getSoftDeleteColumn() != null) {
			throw refusal("cannot stand in an entity with @SoftDelete, whose deletes leave version and token as they"
					+ " are, so that an older run could write the row after them: mark rows as deleted by an attribute");
		}
	}

	// Hibernate 6 has no other name for it
	@SuppressWarnings("removal")
	private static boolean isUpdatable(Property property) {
		return property.isUpdateable();
	}

	private AnnotationException refusal(String what) {
		String place = this.entity.isEmpty() ? "" : " of " + this.entity;
		return new AnnotationException("@FencingToken '" + this.attribute + "'" + place + " " + what);
	}

	@Override
	public EnumSet<EventType> getEventTypes() {
		return EventTypeSets.INSERT_AND_UPDATE;
	}

	@Override
	public Object generate(SharedSessionContractImplementor session, Object owner, @Nullable Object currentValue,
			EventType eventType) {
		long seen = (eventType == EventType.INSERT) ? 0 : tokenOfRow(session, owner);
		ensureWritable(seen);
		Long token = tokenOfRun();
		return (token != null) ? token : seen;
	}

	/**
	 * The token with which the row was read. One that was not read, as that of a
	 * {@code StatelessSession}, is read now: the version is compared after that.
	 */
	private long tokenOfRow(SharedSessionContractImplementor session, Object owner) {
		EntityEntry entry = session.getPersistenceContextInternal().getEntry(owner);
		if (entry != null && entry.getLoadedState() != null) {
			return number(entry.getLoadedValue(this.attribute));
		}
		EntityPersister persister = session.getEntityPersister(null, owner);
		Object[] row = persister.getDatabaseSnapshot(persister.getIdentifier(owner, session), session);
		AttributeMapping mapping = persister.findAttributeMapping(this.attribute);
		return (row != null && mapping != null) ? number(row[mapping.getStateArrayPosition()]) : 0;
	}

	/** The token that is to be written, or null outside of any run. */
	@Nullable Long tokenOfRun() {
		JobRun run = writingRun();
		return (run != null) ? run.token() : null;
	}

	/** Refuses to write a row that a newer run has written. */
	void ensureWritable(@Nullable Object seen) {
		JobRun run = writingRun();
		if (run != null) {
			ensureNotBelow(run, number(seen));
		}
	}

	/** The innermost run, or that of the named job among those around it. */
	private @Nullable JobRun writingRun() {
		JobRun run = CurrentJobRun.find().orElse(null);
		while (run != null && !this.job.isEmpty() && !run.job().equals(this.job)) {
			run = (run instanceof LeasedRun leased) ? leased.enclosing().orElse(null) : null;
		}
		return run;
	}

	private void ensureNotBelow(JobRun run, long seen) {
		if (run instanceof LeasedRun leased) {
			leased.ensureOpen();
		}
		if (seen > run.token()) {
			StaleTokenException refusal = new StaleTokenException(run.job(), run.token(),
					run.job() + ": a row of " + this.entity + " carries token " + seen
							+ ", so it is not written with token " + run.token()
							+ ": a newer run has written it, or another job");
			if (run instanceof LeasedRun leased) {
				leased.refused(refusal);
			}
			throw refusal;
		}
	}

	// Null in a row that is older than its column
	private static long number(@Nullable Object value) {
		return (value instanceof Long number) ? Math.max(0, number) : 0;
	}

}
