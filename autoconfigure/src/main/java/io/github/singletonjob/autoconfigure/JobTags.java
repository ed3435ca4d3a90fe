package io.github.singletonjob.autoconfigure;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The names of jobs as values of tags. Declared names are used as they are, also for
 * names that are evaluated for each call. Code can make up others for every run: of
 * those, only the first hundred are, so that they cannot fill a monitoring system.
 */
class JobTags {

	/** Stands for the names beyond the bound. */
	static final String OTHER = "other";

	private static final int MOST_UNDECLARED = 100;

	private final Set<String> undeclared = ConcurrentHashMap.newKeySet();

	private final Supplier<? extends Set<String>> declared;

	private final UnaryOperator<String> declaration;

	/**
	 * Creates tags.
	 * @param declared the declared names
	 * @param declaration the declared name of one that was evaluated for a call
	 */
	JobTags(Supplier<? extends Set<String>> declared, UnaryOperator<String> declaration) {
		this.declared = declared;
		this.declaration = declaration;
	}

	Set<String> declared() {
		return this.declared.get();
	}

	String of(String name) {
		String job = this.declaration.apply(name);
		if (this.undeclared.contains(job) || this.declared.get().contains(job)) {
			return job;
		}
		if (this.undeclared.size() >= MOST_UNDECLARED) {
			return OTHER;
		}
		this.undeclared.add(job);
		return job;
	}

}
