package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Redis: the program that comes with the library embedded-redis, or else that of the
 * machine. It keeps nothing on disk.
 */
final class RedisProgram implements StoreProgram {

	private static final int TIMEOUT_MILLIS = 1000;

	@Override
	public String title() {
		return "Redis";
	}

	@Override
	public List<String> command(Path directory, int port) {
		return List.of(program(directory), "--bind", "127.0.0.1", "--port", String.valueOf(port), "--dir",
				directory.toString(), "--save", "", "--appendonly", "no");
	}

	private static String program(Path directory) {
		String architecture = "aarch64".equals(System.getProperty("os.arch")) ? "arm64" : "amd64";
		try (InputStream packed = RedisProgram.class
			.getResourceAsStream("/redis-server-7.0.15-linux-" + architecture)) {
			return (packed != null) ? unpack(packed, directory) : installed();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("redis-server cannot be put into " + directory, ex);
		}
	}

	private static String unpack(InputStream packed, Path directory) throws IOException {
		Path program = directory.resolve("redis-server");
		Files.copy(packed, program);
		if (!program.toFile().setExecutable(true)) {
			throw new IOException(program + " cannot be made executable");
		}
		return program.toString();
	}

	private static String installed() {
		return SearchPath.find("redis-server")
			.orElseThrow(() -> new MissingProgramException("redis-server",
					"Install it, on Debian or Ubuntu by 'apt-get install redis-server'"))
			.toString();
	}

	@Override
	public Map<String, String> settings(int port) {
		return Map.of("SPRING_DATA_REDIS_HOST", "127.0.0.1", "SPRING_DATA_REDIS_PORT", String.valueOf(port),
				"MANAGEMENT_HEALTH_REDIS_ENABLED", "true");
	}

	@Override
	public boolean answers(int port) {
		try (Socket socket = new Socket()) {
			socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
			socket.setSoTimeout(TIMEOUT_MILLIS);
			socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
			byte[] reply = socket.getInputStream().readNBytes("+PONG".length());
			return "+PONG".equals(new String(reply, StandardCharsets.US_ASCII));
		}
		catch (IOException ex) {
			return false;
		}
	}

}
