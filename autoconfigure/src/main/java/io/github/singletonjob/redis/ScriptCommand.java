package io.github.singletonjob.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a script. Counts how often it was sent: the client sends what has no
 * answer again when it has connected again.
 */
final class ScriptCommand extends AsyncCommand<byte[], byte[], List<byte[]>> {

	private final Script script;

	private final List<String> keys;

	private final List<String> arguments;

	private volatile @Nullable ScriptCommand successor;

	private final AtomicInteger sent = new AtomicInteger();

	private ScriptCommand(CommandType type, Script script, List<String> keys, List<String> arguments) {
		super(new Command<>(type, new ValueListOutput<>(ByteArrayCodec.INSTANCE),
				arguments((type == CommandType.EVALSHA) ? script.digest() : script.text(), keys, arguments)));
		this.script = script;
		this.keys = keys;
		this.arguments = arguments;
	}

	/** By its digest, which is all that Redis needs if it has seen the script. */
	static ScriptCommand of(Script script, List<String> keys, List<String> arguments) {
		return new ScriptCommand(CommandType.EVALSHA, script, keys, arguments);
	}

	/**
	 * Sends the text of the script if Redis answers that it does not know it; Redis keeps
	 * it from then on.
	 * @param sender sends without waiting
	 * @return done when there is a last answer
	 */
	CompletableFuture<?> settled(Consumer<ScriptCommand> sender) {
		return exceptionallyCompose((failure) -> {
			if (!(failure instanceof RedisNoScriptException)) {
				return failedFuture(failure);
			}
			ScriptCommand full = new ScriptCommand(CommandType.EVAL, this.script, this.keys, this.arguments);
			this.successor = full;
			sender.accept(full);
			return full;
		});
	}

	/** The one that is answered last, as far as it has been sent. */
	ScriptCommand last() {
		return (this.successor != null) ? this.successor : this;
	}

	boolean wasRepeated() {
		return this.sent.get() > 1;
	}

	@Override
	public void encode(ByteBuf buffer) {
		this.sent.incrementAndGet();
		super.encode(buffer);
	}

	private static CommandArgs<byte[], byte[]> arguments(String script, List<String> keys, List<String> arguments) {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE).add(bytes(script))
			.add(keys.size());
		keys.forEach((key) -> args.addKey(bytes(key)));
		arguments.forEach((argument) -> args.add(bytes(argument)));
		return args;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
