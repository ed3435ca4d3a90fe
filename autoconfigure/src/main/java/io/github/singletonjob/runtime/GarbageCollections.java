package io.github.singletonjob.runtime;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * The time that this JVM has been paused by its garbage collectors, in milliseconds since
 * its start. Collectors that count phases beside the application are left out.
 */
final class GarbageCollections implements LongSupplier {

	private final List<GarbageCollectorMXBean> pausing = ManagementFactory.getGarbageCollectorMXBeans()
		.stream()
		.filter((collector) -> pauses(collector.getName()))
		.toList();

	static boolean pauses(String collector) {
		String name = collector.toLowerCase(Locale.ROOT);
		return !name.contains("cycles") && !name.contains("concurrent");
	}

	@Override
	public long getAsLong() {
		return this.pausing.stream().mapToLong((collector) -> Math.max(0, collector.getCollectionTime())).sum();
	}

}
