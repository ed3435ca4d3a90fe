package io.github.singletonjob.contract;

import io.github.singletonjob.lease.LeaseStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

/**
 * What every store has to fulfil, whatever it is made of. A store's test extends this
 * class and adds nothing but the store and its {@link StoreTraits}.
 */
public abstract class LeaseStoreContract {

	private Instances instances;

	/**
	 * A store as one more application instance has it.
	 * @return a new store on the server, or the one store if it lives in this process;
	 * the contract closes it if it can be closed
	 */
	protected abstract LeaseStore openInstance();

	protected abstract StoreTraits traits();

	/**
	 * A way to the server that can be interrupted.
	 * @return null if there is no server
	 */
	protected @Nullable Outage openOutage() {
		return null;
	}

	@BeforeEach
	void openInstances() {
		this.instances = new Instances(this::openInstance, traits());
	}

	@AfterEach
	void closeInstances() throws Exception {
		this.instances.close();
	}

	@Nested
	class Exclusion extends ExclusionContract {

		@Override
		Instances instances() {
			return LeaseStoreContract.this.instances;
		}

	}

	@Nested
	class Renewing extends RenewingContract {

		@Override
		Instances instances() {
			return LeaseStoreContract.this.instances;
		}

	}

	@Nested
	class Releasing extends ReleasingContract {

		@Override
		Instances instances() {
			return LeaseStoreContract.this.instances;
		}

	}

	@Nested
	class Revoking extends RevokingContract {

		@Override
		Instances instances() {
			return LeaseStoreContract.this.instances;
		}

	}

	@Nested
	class Tokens extends TokensContract {

		@Override
		Instances instances() {
			return LeaseStoreContract.this.instances;
		}

	}

	@Nested
	class FireTimes extends FireTimesContract {

		@Override
		Instances instances() {
			return LeaseStoreContract.this.instances;
		}

	}

	@Nested
	class Watching extends WatchingContract {

		@Override
		Instances instances() {
			return LeaseStoreContract.this.instances;
		}

	}

	@Nested
	class Names extends NamesContract {

		@Override
		Instances instances() {
			return LeaseStoreContract.this.instances;
		}

	}

	@Nested
	class Outages extends OutagesContract {

		@Override
		Instances instances() {
			return LeaseStoreContract.this.instances;
		}

		@Override
		@Nullable Outage openOutage() {
			return LeaseStoreContract.this.openOutage();
		}

	}

}
