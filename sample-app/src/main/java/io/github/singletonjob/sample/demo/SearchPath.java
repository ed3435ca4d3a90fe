package io.github.singletonjob.sample.demo;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Where a shell would look for a program.
 */
final class SearchPath {

	private SearchPath() {
	}

	static Optional<Path> find(String program) {
		return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
			.filter((directory) -> !directory.isEmpty())
			.map((directory) -> Path.of(directory, program))
			.filter(Files::isRegularFile)
			.filter(Files::isExecutable)
			.findFirst();
	}

}
