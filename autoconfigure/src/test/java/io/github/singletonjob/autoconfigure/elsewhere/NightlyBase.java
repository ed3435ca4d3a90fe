package io.github.singletonjob.autoconfigure.elsewhere;

import java.util.concurrent.atomic.AtomicReference;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.SingletonJob;

/**
 * A base class whose job is visible in its own package only.
 */
public class NightlyBase {

	public static final AtomicReference<Boolean> INSIDE = new AtomicReference<>();

	@SingletonJob("tidy")
	void tidy() {
		INSIDE.set(CurrentJobRun.find().isPresent());
	}

}
