package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A certificate that signs itself, for 127.0.0.1, made by the JDK's {@code keytool}. Who
 * trusts it knows whom it talks to, be it a server or a client.
 *
 * @param certificate file in PEM format
 * @param key file of the private key, PKCS 8 in PEM format
 */
public record Certificate(Path certificate, Path key) {

	private static final String PASSWORD = "changeit";

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	/**
	 * Makes a certificate with a new key.
	 * @param name the common name
	 * @return its files, which are deleted when the JVM ends
	 */
	public static Certificate create(String name) {
		Path directory = Workspace.newPath("certificate");
		Path store = directory.resolve("store.p12");
		try {
			Files.createDirectories(directory);
			generate(name, store);
			KeyStore content = KeyStore.getInstance("PKCS12");
			try (InputStream input = Files.newInputStream(store)) {
				content.load(input, PASSWORD.toCharArray());
			}
			return new Certificate(
					write(directory.resolve("certificate.pem"), "CERTIFICATE",
							content.getCertificate("own").getEncoded()),
					write(directory.resolve("key.pem"), "PRIVATE KEY",
							content.getKey("own", PASSWORD.toCharArray()).getEncoded()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void generate(String name, Path store) throws IOException {
		List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-genkeypair", "-alias", "own", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=" + name,
				"-ext", "san=ip:127.0.0.1,dns:localhost", "-ext", "bc=ca:true", "-validity", "2", "-storetype",
				"PKCS12", "-keystore", store.toString(), "-storepass", PASSWORD);
		Path output = store.resolveSibling("keytool.log");
		Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
		try {
			if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
				process.destroyForcibly();
				throw new IllegalStateException("keytool failed, see " + output);
			}
		}
		catch (InterruptedException ex) {
			process.destroyForcibly();
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static Path write(Path file, String type, byte[] content) throws IOException {
		String base64 = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(content);
		return Files.writeString(file, "-----BEGIN %1$s-----%n%2$s%n-----END %1$s-----%n".formatted(type, base64));
	}

}
