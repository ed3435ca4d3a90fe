package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The program etcd of this machine, as a cluster of one member. No library brings one. It
 * does not wait for the disk, whose moods would end leases on a machine that has much
 * else to do.
 */
final class EtcdProgram implements StoreProgram {

	private static final int TIMEOUT_MILLIS = 1000;

	@Override
	public String title() {
		return "etcd";
	}

	@Override
	public List<String> command(Path directory, int port) {
		Path program = SearchPath.find("etcd")
			.orElseThrow(() -> new MissingProgramException("etcd",
					"Install it, on Debian or Ubuntu by 'apt-get install etcd-server'"));
		String client = url(port);
		String peer = url(Ports.free());
		return List.of(program.toString(), "--name", "demo", "--data-dir", directory.resolve("etcd").toString(),
				"--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
				"--initial-advertise-peer-urls", peer, "--initial-cluster", "demo=" + peer, "--unsafe-no-fsync");
	}

	@Override
	public Map<String, String> settings(int port) {
		return Map.of("SINGLETONJOB_ETCD_ENDPOINTS", url(port));
	}

	@Override
	public boolean answers(int port) {
		try {
			HttpURLConnection question = (HttpURLConnection) URI.create(url(port) + "/health").toURL().openConnection();
			question.setConnectTimeout(TIMEOUT_MILLIS);
			question.setReadTimeout(TIMEOUT_MILLIS);
			return question.getResponseCode() == HttpURLConnection.HTTP_OK;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static String url(int port) {
		return "http://127.0.0.1:" + port;
	}

}
