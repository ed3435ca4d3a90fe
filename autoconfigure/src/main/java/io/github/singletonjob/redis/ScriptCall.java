package io.github.singletonjob.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a script, and what Redis answered. The script is sent by its digest,
 * and as text if Redis does not know it yet.
 */
final class ScriptCall {

	private final Script script;

	private final List<String> keys;

	private final List<String> arguments;

	private volatile AsyncCommand<byte[], byte[], List<byte[]>> command;

	private List<String> texts = List.of();

	private @Nullable RuntimeException failure;

	private boolean interrupted;

	ScriptCall(Script script, List<String> keys, List<String> arguments) {
		this.script = script;
		this.keys = keys;
		this.arguments = arguments;
		this.command = command(CommandType.EVALSHA, script.digest);
	}

	private AsyncCommand<byte[], byte[], List<byte[]>> command(CommandType type, String scriptOrDigest) {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE).add(bytes(scriptOrDigest))
			.add(this.keys.size());
		this.keys.forEach((key) -> args.addKey(bytes(key)));
		this.arguments.forEach((argument) -> args.add(bytes(argument)));
		return new AsyncCommand<>(new Command<>(type, new ValueListOutput<>(ByteArrayCodec.INSTANCE), args));
	}

	/** The command that is to be answered, as far as it has been sent. */
	AsyncCommand<byte[], byte[], List<byte[]>> command() {
		return this.command;
	}

	/**
	 * Sends the text of the script if Redis answers that it does not know it; Redis keeps
	 * it from then on.
	 * @param sender sends without waiting
	 * @return done when there is a last answer
	 */
	CompletableFuture<?> settled(Consumer<AsyncCommand<byte[], byte[], List<byte[]>>> sender) {
		return this.command.exceptionallyCompose((cause) -> {
			if (!(cause instanceof RedisNoScriptException)) {
				return CompletableFuture.failedFuture(cause);
			}
			AsyncCommand<byte[], byte[], List<byte[]>> full = command(CommandType.EVAL, this.script.text);
			this.command = full;
			sender.accept(full);
			return full;
		});
	}

	/**
	 * Nobody waits any more: keeps the answer, if there is one; otherwise the client does
	 * not send the command again.
	 * @param interrupted whether a connection was lost meanwhile
	 */
	void end(boolean interrupted) {
		AsyncCommand<byte[], byte[], List<byte[]>> last = this.command;
		if (!last.isDone()) {
			last.cancel(false);
		}
		this.interrupted = interrupted;
		try {
			this.texts = last.join().stream().map((value) -> new String(value, StandardCharsets.UTF_8)).toList();
		}
		catch (CompletionException ex) {
			this.failure = (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
		}
		catch (CancellationException ex) {
			this.failure = ex;
		}
	}

	/** The first text; says what the others are. Empty if there was no answer. */
	String verdict() {
		return this.texts.isEmpty() ? "" : this.texts.get(0);
	}

	/** What the script answered; empty if it did not. */
	List<String> texts() {
		return this.texts;
	}

	/** Why it did not; null if it did. */
	@Nullable RuntimeException failure() {
		return this.failure;
	}

	/**
	 * Whether Redis said something, be it an error. That it does not know the script is
	 * none, because the text is on its way then.
	 */
	boolean isAnswered() {
		return this.failure == null || (this.failure instanceof RedisCommandExecutionException
				&& !(this.failure instanceof RedisNoScriptException));
	}

	/**
	 * Whether the answer says that there was nothing to delete. If a connection was lost
	 * meanwhile that proves nothing: the client sends a command without a reply again, so
	 * it may be the first execution that has deleted the lease.
	 */
	boolean isGone() {
		return verdict().equals("gone") && !this.interrupted;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * What Redis executes as one step. Each script answers with texts.
	 */
	enum Script {

		/**
		 * Grants or finds a lease: {@code granted}, the token and what the run stands
		 * for; {@code held} and by whom; {@code ran} and what was completed last; or
		 * {@code early} and the server's clock.
		 */
		ACQUIRE,

		/** Compare and expire: {@code extended} or {@code gone}. */
		RENEW,

		/** Compare and record what was completed: {@code completed} or {@code gone}. */
		COMPLETE,

		/**
		 * Compare, record what was completed, delete and say so: {@code released} or
		 * {@code gone}.
		 */
		RELEASE,

		/** Compare the token, delete and say so: {@code revoked} or {@code gone}. */
		REVOKE,

		/** Reads all that is known of a job: {@code seen}, and what. */
		INSPECT,

		/** Tries all commands that the others use. */
		PROBE;

		private final String text;

		/** By which Redis knows the script once it has seen it. */
		private final String digest;

		Script() {
			this.text = read(name().toLowerCase(Locale.ROOT) + ".lua");
			this.digest = digest(this.text);
		}

		private static String read(String resource) {
			try (InputStream input = Script.class.getResourceAsStream(resource)) {
				if (input == null) {
					throw new IllegalStateException("The jar is damaged: it has no " + resource);
				}
				return new String(input.readAllBytes(), StandardCharsets.UTF_8);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		private static String digest(String text) {
			try {
				MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
				return HexFormat.of().formatHex(sha1.digest(bytes(text)));
			}
			catch (NoSuchAlgorithmException ex) {
				throw new IllegalStateException("Every Java platform has SHA-1, this one has not", ex);
			}
		}

	}

}
