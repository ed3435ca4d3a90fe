package io.github.singletonjob.etcd;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import javax.net.ssl.SSLException;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Opens clients that neither wait for a server nor repeat a call on their own: who calls
 * decides that.
 */
final class ClientOpener implements Supplier<Client> {

	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

	private static final Duration PING_EVERY = Duration.ofSeconds(10);

	private static final int LARGEST_ANSWER = 64 * 1024 * 1024;

	private final EtcdEndpoints endpoints;

	private final @Nullable SslContext encryption;

	ClientOpener(EtcdEndpoints endpoints) {
		this.endpoints = endpoints;
		this.encryption = endpoints.isEncrypted() ? encryption(endpoints.tls()) : null;
	}

	@Override
	public Client get() {
		ClientBuilder builder = Client.builder()
			.target(this.endpoints.target())
			.sslContext(this.encryption)
			.waitForReady(false)
			.retryMaxAttempts(0)
			.connectTimeout(CONNECT_TIMEOUT)
			.keepaliveTime(PING_EVERY)
			.keepaliveTimeout(CallLimit.LONGEST_CALL)
			.keepaliveWithoutCalls(false)
			.maxInboundMessageSize(LARGEST_ANSWER)
			.interceptor(new CallLimit());
		if (this.endpoints.hasUser()) {
			builder.user(bytes(this.endpoints.user())).password(bytes(this.endpoints.password()));
		}
		return builder.build();
	}

	private static ByteSequence bytes(@Nullable String value) {
		return ByteSequence.from(Objects.requireNonNull(value), StandardCharsets.UTF_8);
	}

	private static SslContext encryption(@Nullable EtcdTls tls) {
		SslContextBuilder builder = GrpcSslContexts.forClient();
		try {
			if (tls != null && tls.ca() != null) {
				builder.trustManager(file(tls.ca()));
			}
			if (tls != null && tls.certificate() != null && tls.key() != null) {
				builder.keyManager(file(tls.certificate()), file(tls.key()));
			}
			return builder.build();
		}
		catch (SSLException | IllegalArgumentException ex) {
			throw new IllegalArgumentException("The files for TLS to etcd cannot be used: " + ex.getMessage(), ex);
		}
	}

	private static File file(Path path) {
		return path.toFile();
	}

}
