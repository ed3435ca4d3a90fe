package io.github.singletonjob.servers;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * The main class of a JVM that answers each line of its input, until {@code exit CODE}.
 */
final class Talker {

	private Talker() {
	}

	/**
	 * Talks.
	 * @param args printed once
	 * @throws Exception on failure
	 */
	public static void main(String[] args) throws Exception {
		Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("shutting down")));
		System.out.println("ready " + String.join(",", args) + " " + System.getProperty("talker.mood"));
		System.err.println("to the other stream");
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = input.readLine(); line != null; line = input.readLine()) {
			System.out.println("you said " + line);
			if (line.startsWith("exit ")) {
				System.exit(Integer.parseInt(line.substring("exit ".length())));
			}
		}
		System.out.println("end of input");
	}

}
