package io.github.singletonjob.autoconfigure.elsewhere;

import io.github.singletonjob.SingletonJob;

/**
 * A base class whose job is visible in its own package only.
 */
public class NightlyBase {

	@SingletonJob("tidy")
	void tidy() {
	}

}
