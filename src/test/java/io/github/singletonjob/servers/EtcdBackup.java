package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.etcd.jetcd.Client;

/**
 * A backup of an etcd of one member: a snapshot that is taken through its interface while
 * it runs, and made into a new data directory by {@code etcdctl}. Where the machine has
 * no etcdctl it is a copy of the data directory of the stopped member.
 */
final class EtcdBackup {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private final Optional<String> etcdctl = EtcdServer.program("etcdctl");

	private final Path data;

	private final Path saved;

	EtcdBackup(Path data) {
		this.data = data;
		this.saved = Path.of(data + "-saved");
	}

	void save(EtcdServer server) {
		Workspace.delete(this.saved);
		if (this.etcdctl.isPresent()) {
			takeSnapshot(server.endpoint());
			return;
		}
		System.out.println("A backup of etcd is a copy of its data: no etcdctl on this machine");
		server.stop();
		copy(this.data, this.saved);
		server.start();
	}

	private void takeSnapshot(String endpoint) {
		try (Client client = Client.builder().endpoints(endpoint).build();
				OutputStream output = Files.newOutputStream(this.saved)) {
			client.getMaintenanceClient().snapshot(output).orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Replaces the data of the server, which does not run.
	 * @param member says which member of which cluster it is
	 */
	void restore(List<String> member) {
		if (this.etcdctl.isEmpty()) {
			copy(this.saved, this.data);
			return;
		}
		Workspace.delete(this.data);
		List<String> command = new ArrayList<>(List.of(this.etcdctl.get(), "snapshot", "restore", this.saved.toString(),
				"--data-dir", this.data.toString()));
		command.addAll(member);
		OwnedProcess process = OwnedProcess.start(command, "KILL", (builder) -> {
			builder.environment().put("ETCDCTL_API", "3");
			builder.redirectOutput(Path.of(this.saved + ".log").toFile());
		});
		try (process) {
			int code = process.awaitExit(TIMEOUT);
			if (code != 0) {
				throw new IllegalStateException("etcdctl ended with " + code + ", see " + this.saved + ".log");
			}
		}
	}

	void delete() {
		Workspace.delete(this.saved);
	}

	private static void copy(Path from, Path to) {
		Workspace.delete(to);
		try (Stream<Path> files = Files.walk(from)) {
			for (Path file : files.toList()) {
				Files.copy(file, to.resolve(from.relativize(file)));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
