package io.github.singletonjob.jpa;

import java.util.function.BiConsumer;

import org.hibernate.Hibernate;
import org.hibernate.LockMode;
import org.hibernate.boot.Metadata;
import org.hibernate.boot.spi.BootstrapContext;
import org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer;
import org.hibernate.collection.spi.PersistentCollection;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.SelfDirtinessTracker;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.engine.spi.Status;
import org.hibernate.event.service.spi.EventListenerRegistry;
import org.hibernate.event.spi.EventType;
import org.hibernate.event.spi.FlushEntityEvent;
import org.hibernate.event.spi.FlushEntityEventListener;
import org.hibernate.event.spi.LoadEvent;
import org.hibernate.event.spi.LoadEventListener;
import org.hibernate.event.spi.LockEvent;
import org.hibernate.event.spi.LockEventListener;
import org.hibernate.event.spi.PostLoadEvent;
import org.hibernate.event.spi.PostLoadEventListener;
import org.hibernate.event.spi.PreDeleteEvent;
import org.hibernate.event.spi.PreDeleteEventListener;
import org.hibernate.event.spi.PreUpsertEvent;
import org.hibernate.event.spi.PreUpsertEventListener;
import org.hibernate.integrator.spi.Integrator;
import org.hibernate.metamodel.mapping.AttributeMapping;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.service.spi.SessionFactoryServiceRegistry;
import org.hibernate.type.CollectionType;
import org.hibernate.type.ComponentType;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

/**
 * Values are generated for inserts and updates of attributes. This adds what Hibernate
 * calls before it writes a row otherwise: a delete, an upsert, a version that is only
 * incremented. Hibernate finds it by its service file.
 */
public final class FencingTokenIntegrator implements Integrator {

	@Override
	public void integrate(Metadata metadata, BootstrapContext bootstrapContext,
			SessionFactoryImplementor sessionFactory) {
		EventListenerRegistry listeners = sessionFactory.getServiceRegistry().getService(EventListenerRegistry.class);
		if (listeners != null) {
			Removals removals = new Removals();
			listeners.appendListeners(EventType.PRE_DELETE, removals);
			listeners.appendListeners(EventType.PRE_UPSERT, removals);
			VersionIncrements increments = new VersionIncrements();
			listeners.prependListeners(EventType.POST_LOAD, increments);
			listeners.appendListeners(EventType.LOAD, increments);
			listeners.prependListeners(EventType.LOCK, increments);
			listeners.prependListeners(EventType.FLUSH_ENTITY, increments);
		}
	}

	// Abstract in Hibernate 6
	@Override
	public void disintegrate(SessionFactoryImplementor sessionFactory, SessionFactoryServiceRegistry serviceRegistry) {
	}

	private static void forEachToken(EntityPersister persister,
			BiConsumer<FencingTokenGenerator, AttributeMapping> action) {
		persister.forEachAttributeMapping((attribute) -> {
			if (attribute.getGenerator() instanceof FencingTokenGenerator token) {
				action.accept(token, attribute);
			}
		});
	}

	/**
	 * Compares the token of a row that is to be deleted, and refuses upserts, which write
	 * over a row without having read its token.
	 */
	private static final class Removals implements PreDeleteEventListener, PreUpsertEventListener {

		private static final long serialVersionUID = 1L;

		@Override
		public boolean onPreDelete(PreDeleteEvent event) {
			Object[] state = event.getDeletedState();
			// A StatelessSession knows no state but the entity's
			forEachToken(event.getPersister(), (token, attribute) -> token.ensureWritable((state != null)
					? state[attribute.getStateArrayPosition()] : attribute.getValue(event.getEntity())));
			return false;
		}

		@Override
		public boolean onPreUpsert(PreUpsertEvent event) {
			forEachToken(event.getPersister(), (token, attribute) -> {
				throw new UnsupportedOperationException("upsert of " + event.getPersister().getEntityName()
						+ " is refused, because it could lower the token of a row that it has not read: insert it, or"
						+ " read it and update it");
			});
			return false;
		}

	}

	/**
	 * Where Hibernate would increment the version alone, inside a run, this changes the
	 * token attribute of the entity. So the row is written with its token, which is
	 * compared before.
	 */
	private static final class VersionIncrements
			implements PostLoadEventListener, LoadEventListener, LockEventListener, FlushEntityEventListener {

		private static final long serialVersionUID = 1L;

		@Override
		public void onPostLoad(PostLoadEvent event) {
			EntityEntry entry = event.getSession().getPersistenceContextInternal().getEntry(event.getEntity());
			if (entry != null && increments(entry.getLockMode())) {
				change(event.getEntity(), entry);
			}
		}

		/** For an entity that was there already, and whose lock was only raised. */
		@Override
		public void onLoad(LoadEvent event, LoadType loadType) {
			if (event.getResult() != null && increments(event.getLockOptions().getLockMode())) {
				change(Hibernate.unproxy(event.getResult()), event.getSession());
			}
		}

		@Override
		public void onLock(LockEvent event) {
			if (increments(event.getLockOptions().getLockMode())) {
				change(Hibernate.unproxy(event.getObject()), event.getSession());
			}
		}

		/** Hibernate 6 increments the version alone if only a collection was changed. */
		@Override
		public void onFlushEntity(FlushEntityEvent event) {
			EntityEntry entry = event.getEntityEntry();
			EntityPersister persister = entry.getPersister();
			Object[] loaded = entry.getLoadedState();
			if (loaded != null && persister.hasCollections() && isCollectionChanged(persister.getPropertyTypes(),
					persister.getValues(event.getEntity()), loaded, persister.getPropertyVersionability())) {
				change(event.getEntity(), entry);
			}
		}

		private static boolean increments(LockMode mode) {
			return mode == LockMode.OPTIMISTIC_FORCE_INCREMENT || mode == LockMode.PESSIMISTIC_FORCE_INCREMENT;
		}

		private static boolean isCollectionChanged(Type[] types, Object[] values, Object[] loaded,
				boolean @Nullable [] versioned) {
			for (int i = 0; i < types.length; i++) {
				if ((versioned == null || versioned[i]) && isCollectionChanged(types[i], values[i], loaded[i])) {
					return true;
				}
			}
			return false;
		}

		private static boolean isCollectionChanged(Type type, @Nullable Object value, @Nullable Object loaded) {
			if (value == LazyPropertyInitializer.UNFETCHED_PROPERTY) {
				return false;
			}
			if (type instanceof CollectionType) {
				return value != loaded || (value instanceof PersistentCollection<?> collection && collection.isDirty());
			}
			return type instanceof ComponentType embeddable && value != null && loaded != null
					&& isCollectionChanged(embeddable.getSubtypes(), embeddable.getPropertyValues(value),
							embeddable.getPropertyValues(loaded), null);
		}

		private static void change(Object entity, SharedSessionContractImplementor session) {
			EntityEntry entry = session.getPersistenceContextInternal().getEntry(entity);
			if (entry != null) {
				change(entity, entry);
			}
		}

		private static void change(Object entity, EntityEntry entry) {
			if (entry.getStatus() == Status.MANAGED && entry.getLoadedState() != null) {
				forEachToken(entry.getPersister(), (token, attribute) -> change(entity, entry, token, attribute));
			}
		}

		// First the change: if the refusal is swallowed, the flush refuses again
		private static void change(Object entity, EntityEntry entry, FencingTokenGenerator token,
				AttributeMapping attribute) {
			Long next = token.tokenOfRun();
			if (next != null) {
				entry.getPersister().setValue(entity, attribute.getStateArrayPosition(), next);
				if (entity instanceof SelfDirtinessTracker tracker) {
					tracker.$$_hibernate_trackChange(attribute.getAttributeName());
				}
				token.ensureWritable(entry.getLoadedValue(attribute.getAttributeName()));
			}
		}

	}

}
