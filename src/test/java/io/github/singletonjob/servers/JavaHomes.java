package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * The JDKs of this machine: that of the tests, those named in {@code JAVA_…_HOME}, and
 * those under {@code /usr/lib/jvm}.
 */
public final class JavaHomes {

	private static final Path DEBIAN = Path.of("/usr/lib/jvm");

	private JavaHomes() {
	}

	/**
	 * Finds the newest JDK that is new enough.
	 * @param atLeast the oldest feature version that will do
	 * @return its home, or empty if there is none
	 */
	public static Optional<Path> find(int atLeast) {
		return candidates().stream()
			.filter((home) -> version(home) >= atLeast)
			.max(Comparator.comparingInt(JavaHomes::version));
	}

	private static List<Path> candidates() {
		List<Path> homes = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"))));
		System.getenv().forEach((name, value) -> {
			if (name.startsWith("JAVA_") && name.endsWith("HOME")) {
				homes.add(Path.of(value));
			}
		});
		if (Files.isDirectory(DEBIAN)) {
			try (Stream<Path> installed = Files.list(DEBIAN)) {
				installed.forEach(homes::add);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return homes.stream().filter((home) -> Files.isExecutable(home.resolve("bin/java"))).toList();
	}

	private static int version(Path home) {
		Path release = home.resolve("release");
		Properties properties = new Properties();
		if (Files.isRegularFile(release)) {
			try (var reader = Files.newBufferedReader(release)) {
				properties.load(reader);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		String version = properties.getProperty("JAVA_VERSION", "").replace("\"", "");
		String feature = version.split("[.+-]", 2)[0];
		return feature.matches("[0-9]{1,4}") ? Integer.parseInt(feature) : 0;
	}

}
