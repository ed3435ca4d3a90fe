package io.github.singletonjob.simulation;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;

import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The runtime, compiled anew from its sources with the changes of a mutant, and the
 * simulation on top of it, in a class loader of their own.
 */
final class ChangedRuntime extends ClassLoader {

	private static final String RUNTIME = "io.github.singletonjob.runtime.";

	private static final String SIMULATION = "io.github.singletonjob.simulation.";

	private static final Path SOURCES = Path.of("src/main/java/io/github/singletonjob/runtime");

	private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

	// Never closed: it knows the class path by heart
	private static final JavaFileManager FILES = COMPILER.getStandardFileManager(null, null, null);

	private static final String CLASS_PATH = System.getProperty("surefire.test.class.path",
			System.getProperty("java.class.path"));

	private final Map<String, ByteArrayOutputStream> compiled = new HashMap<>();

	private ChangedRuntime() {
		super(ChangedRuntime.class.getClassLoader());
	}

	/** Schedules on the changed runtime. */
	static LoadedSchedules schedules(Mutant mutant) throws IOException, ReflectiveOperationException {
		ChangedRuntime changed = new ChangedRuntime();
		changed.compile(mutant::changes, mutant::apply);
		return changed.load(mutant.flaw());
	}

	/** Schedules on the runtime, compiled as those are and not changed. */
	static LoadedSchedules unchanged() throws IOException, ReflectiveOperationException {
		ChangedRuntime unchanged = new ChangedRuntime();
		unchanged.compile((type) -> true, (type, source) -> source);
		return unchanged.load(Flaw.NONE);
	}

	private LoadedSchedules load(Flaw flaw) throws ReflectiveOperationException {
		var constructor = loadClass(Schedules.class.getName()).getDeclaredConstructor(String.class);
		constructor.setAccessible(true);
		return new LoadedSchedules(constructor.newInstance(flaw.name()));
	}

	private void compile(Predicate<String> types, BinaryOperator<String> change) throws IOException {
		List<JavaFileObject> sources = new ArrayList<>();
		try (Stream<Path> files = Files.list(SOURCES)) {
			for (Path file : files.sorted().toList()) {
				String type = file.getFileName().toString().replace(".java", "");
				if (types.test(type)) {
					sources.add(new Source(type, change.apply(type, Files.readString(file))));
				}
			}
		}
		if (sources.isEmpty()) {
			return;
		}
		DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
		List<String> options = List.of("-proc:none", "-nowarn", "-cp", CLASS_PATH);
		boolean done = COMPILER.getTask(null, new InMemory(), problems, options, null, sources).call();
		if (!done) {
			throw new IllegalStateException("Does not compile: " + problems.getDiagnostics());
		}
	}

	@Override
	protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
		if (!name.startsWith(RUNTIME) && !name.startsWith(SIMULATION)) {
			return super.loadClass(name, resolve);
		}
		synchronized (getClassLoadingLock(name)) {
			Class<?> known = findLoadedClass(name);
			return (known != null) ? known : define(name);
		}
	}

	private Class<?> define(String name) throws ClassNotFoundException {
		ByteArrayOutputStream changed = this.compiled.get(name);
		byte[] bytes = (changed != null) ? changed.toByteArray() : original(name);
		return defineClass(name, bytes, 0, bytes.length);
	}

	private byte[] original(String name) throws ClassNotFoundException {
		try (InputStream input = getResourceAsStream(name.replace('.', '/') + ".class")) {
			if (input == null) {
				throw new ClassNotFoundException(name);
			}
			return input.readAllBytes();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Schedules of another class loader.
	 *
	 * @param schedules a {@link Schedules} there
	 */
	record LoadedSchedules(Object schedules) implements AutoCloseable {

		/**
		 * Runs the schedule of a seed.
		 * @return the promises that were broken, empty if none was
		 */
		String run(long seed) {
			return String.valueOf(((LongFunction<?>) this.schedules).apply(seed));
		}

		@Override
		public void close() throws Exception {
			((AutoCloseable) this.schedules).close();
		}

	}

	/**
	 * A source text.
	 */
	private static final class Source extends SimpleJavaFileObject {

		private final String text;

		Source(String type, String text) {
			super(URI.create("string:///" + (RUNTIME + type).replace('.', '/') + ".java"), Kind.SOURCE);
			this.text = text;
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return this.text;
		}

	}

	/**
	 * Keeps what the compiler writes.
	 */
	private final class InMemory extends ForwardingJavaFileManager<JavaFileManager> {

		InMemory() {
			super(FILES);
		}

		@Override
		public JavaFileObject getJavaFileForOutput(Location location, String name, JavaFileObject.Kind kind,
				FileObject sibling) {
			return new SimpleJavaFileObject(URI.create("memory:///" + name.replace('.', '/') + ".class"), kind) {

				@Override
				public OutputStream openOutputStream() {
					return ChangedRuntime.this.compiled.computeIfAbsent(name, (key) -> new ByteArrayOutputStream());
				}

			};
		}

	}

}
