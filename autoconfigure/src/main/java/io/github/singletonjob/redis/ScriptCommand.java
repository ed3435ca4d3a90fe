package io.github.singletonjob.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;

/**
 * One execution of a script. Counts how often it was sent: the client sends what has no
 * answer again when it has connected again.
 */
final class ScriptCommand extends AsyncCommand<byte[], byte[], List<byte[]>> {

	private final Script script;

	private final List<String> keys;

	private final List<String> arguments;

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

	/** The same with the text of the script, which Redis keeps from then on. */
	ScriptCommand withText() {
		return new ScriptCommand(CommandType.EVAL, this.script, this.keys, this.arguments);
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
