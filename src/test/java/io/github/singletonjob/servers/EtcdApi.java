package io.github.singletonjob.servers;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an operator would ask an etcd, through its JSON interface.
 */
public final class EtcdApi {

	private static final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private final String endpoint;

	EtcdApi(String endpoint) {
		this.endpoint = endpoint;
	}

	boolean isHealthy() {
		try {
			return send(HttpRequest.newBuilder(URI.create(this.endpoint + "/health")).GET()).contains("true");
		}
		catch (IllegalStateException ex) {
			return false;
		}
	}

	/** Whether this member leads its cluster, as it believes itself. */
	boolean isLeader() {
		String status = post("maintenance/status", "{}");
		// Nobody leads while they elect
		return status.contains("\"leader\"") && number(status, "leader") == number(status, "member_id");
	}

	/** The revision, which goes up with each change of a key. */
	public long revision() {
		return number(post("kv/range", "{\"key\":\"AA==\"}"), "revision");
	}

	/** The names of all keys that begin so. */
	public List<String> keys(String prefix) {
		return strings(range(prefix), "key");
	}

	/** The leases to which keys that begin so are attached, one for each key. */
	public List<Long> leasesOfKeys(String prefix) {
		return matches(range(prefix), "\"lease\":\"(\\d+)\"").stream().map(Long::valueOf).toList();
	}

	/** All leases of the server. */
	public List<Long> leases() {
		return matches(post("lease/leases", "{}"), "\"ID\":\"(-?\\d+)\"").stream().map(Long::valueOf).toList();
	}

	public void delete(String key) {
		post("kv/deleterange", "{\"key\":\"" + base64(key) + "\"}");
	}

	public void put(String key, String value) {
		post("kv/put", "{\"key\":\"" + base64(key) + "\",\"value\":\"" + base64(value) + "\"}");
	}

	public void revoke(long lease) {
		post("lease/revoke", "{\"ID\":\"" + lease + "\"}");
	}

	/** Sends a request, for example to {@code auth/enable}. */
	public String post(String path, String json) {
		return send(HttpRequest.newBuilder(URI.create(this.endpoint + "/v3/" + path))
			.POST(HttpRequest.BodyPublishers.ofString(json)));
	}

	private String range(String prefix) {
		String end = prefix.substring(0, prefix.length() - 1) + (char) (prefix.charAt(prefix.length() - 1) + 1);
		return post("kv/range", "{\"key\":\"" + base64(prefix) + "\",\"range_end\":\"" + base64(end) + "\"}");
	}

	private static String send(HttpRequest.Builder request) {
		try {
			HttpResponse<String> response = http.send(request.timeout(TIMEOUT).build(),
					HttpResponse.BodyHandlers.ofString());
			if (response.statusCode() != 200) {
				throw new IllegalStateException(response.body());
			}
			return response.body();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static long number(String json, String field) {
		Matcher matcher = Pattern.compile("\"" + field + "\":\"(\\d+)\"").matcher(json);
		if (!matcher.find()) {
			throw new IllegalStateException("No " + field + " in " + json);
		}
		return Long.parseUnsignedLong(matcher.group(1));
	}

	private static List<String> strings(String json, String field) {
		return matches(json, "\"" + field + "\":\"([^\"]*)\"").stream()
			.map((encoded) -> new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8))
			.toList();
	}

	private static List<String> matches(String json, String regex) {
		return Pattern.compile(regex).matcher(json).results().map((MatchResult match) -> match.group(1)).toList();
	}

	private static String base64(String text) {
		return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
	}

}
