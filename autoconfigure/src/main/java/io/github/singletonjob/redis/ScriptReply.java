package io.github.singletonjob.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisNoScriptException;
import org.jspecify.annotations.Nullable;

/**
 * What became of one execution of a script.
 *
 * @param texts what the script answered; empty if it did not
 * @param failure why it did not; null if it did
 * @param repeated whether it was sent more than once, so that the answer may tell of the
 * second execution only
 */
record ScriptReply(List<String> texts, @Nullable RuntimeException failure, boolean repeated) {

	/** Looks at a command that nobody waits for any more; it is not sent again then. */
	static ScriptReply of(ScriptCommand first) {
		ScriptCommand command = first.last();
		if (!command.isDone()) {
			command.cancel(false);
		}
		boolean repeated = command.wasRepeated();
		try {
			List<byte[]> values = command.join();
			return new ScriptReply(values.stream().map(ScriptReply::text).toList(), null, repeated);
		}
		catch (CompletionException ex) {
			RuntimeException failure = (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
			return new ScriptReply(List.of(), failure, repeated);
		}
		catch (CancellationException ex) {
			return new ScriptReply(List.of(), ex, repeated);
		}
	}

	/**
	 * Whether Redis said something, be it an error. That it does not know the script is
	 * none, because the text is on its way then.
	 */
	boolean isAnswer() {
		return this.failure == null || (this.failure instanceof RedisCommandExecutionException
				&& !(this.failure instanceof RedisNoScriptException));
	}

	/** The first text; says what the others are. */
	String verdict() {
		return this.texts.isEmpty() ? "" : this.texts.get(0);
	}

	private static String text(byte[] value) {
		return new String(value, StandardCharsets.UTF_8);
	}

}
