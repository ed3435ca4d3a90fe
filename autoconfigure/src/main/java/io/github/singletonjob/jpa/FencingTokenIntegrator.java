package io.github.singletonjob.jpa;

import org.hibernate.boot.Metadata;
import org.hibernate.boot.spi.BootstrapContext;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.event.service.spi.EventListenerRegistry;
import org.hibernate.event.spi.EventType;
import org.hibernate.event.spi.PreDeleteEvent;
import org.hibernate.event.spi.PreDeleteEventListener;
import org.hibernate.event.spi.PreUpsertEvent;
import org.hibernate.event.spi.PreUpsertEventListener;
import org.hibernate.integrator.spi.Integrator;
import org.hibernate.metamodel.mapping.AttributeMapping;
import org.hibernate.service.spi.SessionFactoryServiceRegistry;

/**
 * Values are generated for inserts and updates. This adds what Hibernate calls before
 * deletes and upserts; Hibernate finds it by its service file.
 */
public final class FencingTokenIntegrator implements Integrator {

	@Override
	public void integrate(Metadata metadata, BootstrapContext bootstrapContext,
			SessionFactoryImplementor sessionFactory) {
		EventListenerRegistry listeners = sessionFactory.getServiceRegistry().getService(EventListenerRegistry.class);
		if (listeners != null) {
			listeners.appendListeners(EventType.PRE_DELETE, new BeforeDelete());
			listeners.appendListeners(EventType.PRE_UPSERT, new BeforeUpsert());
		}
	}

	// Abstract in Hibernate 6
	@Override
	public void disintegrate(SessionFactoryImplementor sessionFactory, SessionFactoryServiceRegistry serviceRegistry) {
	}

	/**
	 * Compares the token of the row that is to be deleted.
	 */
	private static final class BeforeDelete implements PreDeleteEventListener {

		private static final long serialVersionUID = 1L;

		@Override
		public boolean onPreDelete(PreDeleteEvent event) {
			event.getPersister().forEachAttributeMapping((attribute) -> check(attribute, event));
			return false;
		}

		// A StatelessSession knows no state but the entity's
		private static void check(AttributeMapping attribute, PreDeleteEvent event) {
			if (attribute.getGenerator() instanceof FencingTokenGenerator token) {
				Object[] state = event.getDeletedState();
				token.beforeDelete((state != null) ? state[attribute.getStateArrayPosition()]
						: attribute.getValue(event.getEntity()));
			}
		}

	}

	/**
	 * Refuses upserts, which write over a row without having read its token.
	 */
	private static final class BeforeUpsert implements PreUpsertEventListener {

		private static final long serialVersionUID = 1L;

		@Override
		public boolean onPreUpsert(PreUpsertEvent event) {
			event.getPersister().forEachAttributeMapping((attribute) -> {
				if (attribute.getGenerator() instanceof FencingTokenGenerator) {
					throw new UnsupportedOperationException("upsert of " + event.getPersister().getEntityName()
							+ " is refused, because it could lower the token of a row that it has not read: insert it, or"
							+ " read it and update it");
				}
			});
			return false;
		}

	}

}
