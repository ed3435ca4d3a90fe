package io.github.singletonjob.servers;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The main class of a JVM that owns servers and processes and waits to be killed.
 */
final class OwnerOfServers {

	private OwnerOfServers() {
	}

	/**
	 * Prints the ids of all that must not outlive this JVM.
	 * @param args none
	 * @throws Exception on failure
	 */
	public static void main(String[] args) throws Exception {
		PostgresServer running = PostgresServer.shared();
		PostgresServer frozen = PostgresServer.create().start();
		try (Connection first = PostgresServer.connect(running.newDatabase());
				Connection second = PostgresServer.connect(frozen.newDatabase());
				JvmProcess jvm = JvmProcess.of(Talker.class).start()) {
			jvm.awaitLine("ready", Duration.ofSeconds(10));
			frozen.freeze();
			jvm.freeze();
			List<ProcessHandle> below = ProcessHandle.current().descendants().toList();
			System.out.println("pids " + Stream.concat(below.stream(), Stream.of(ProcessHandle.current()))
				.map((process) -> Long.toString(process.pid()))
				.collect(Collectors.joining(" ")));
			System.in.read();
			System.out.println(first + " " + second);
		}
	}

}
