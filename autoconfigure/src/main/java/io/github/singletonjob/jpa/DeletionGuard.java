package io.github.singletonjob.jpa;

import org.hibernate.event.spi.PreDeleteEvent;
import org.hibernate.event.spi.PreDeleteEventListener;
import org.hibernate.metamodel.mapping.AttributeMapping;

/**
 * Values are generated for inserts and updates. This is for deletes.
 */
final class DeletionGuard implements PreDeleteEventListener {

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
			token.beforeDelete(
					(state != null) ? state[attribute.getStateArrayPosition()] : attribute.getValue(event.getEntity()));
		}
	}

}
