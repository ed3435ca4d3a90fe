package io.github.singletonjob.simulation;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The runtime with a safety rule taken out, by a change of its source text. A text that
 * is not found exactly once is an error: then the rule has moved, and this has to follow.
 *
 * @param rule what it breaks
 * @param promise what the simulation has to say about it
 * @param flaw what the model store or fence breaks
 * @param edits by the name of the class: pairs of a text and its replacement
 */
record Mutant(String rule, String promise, Flaw flaw, Map<String, String[]> edits) {

	static Mutant of(String rule, String promise) {
		return new Mutant(rule, promise, Flaw.NONE, new LinkedHashMap<>());
	}

	static Mutant of(Flaw flaw, String promise) {
		return new Mutant(flaw.name(), promise, flaw, Map.of());
	}

	/** Adds changes of one class. */
	Mutant change(String type, String... textAndReplacement) {
		this.edits.put(type, textAndReplacement);
		return this;
	}

	boolean changes(String type) {
		return this.edits.containsKey(type);
	}

	String apply(String type, String source) {
		String changed = source;
		String[] pairs = this.edits.getOrDefault(type, new String[0]);
		for (int i = 0; i < pairs.length; i += 2) {
			int first = changed.indexOf(pairs[i]);
			if (first < 0 || changed.indexOf(pairs[i], first + 1) >= 0) {
				throw new IllegalStateException(
						"Not exactly once in " + type + ", so '" + this.rule + "' must be written anew: " + pairs[i]);
			}
			changed = changed.substring(0, first) + pairs[i + 1] + changed.substring(first + pairs[i].length());
		}
		return changed;
	}

	@Override
	public String toString() {
		return this.rule;
	}

}
