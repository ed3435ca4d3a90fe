package io.github.singletonjob.servers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection: chunks that were read and wait for their time. While it
 * is held nothing is read, so that the bytes stay in the buffers of the kernel.
 */
final class ProxyFlow {

	private static final int CHUNK = 16 * 1024;

	private static final int LIMIT = 4 * 1024 * 1024;

	private final SocketChannel source;

	private final SocketChannel target;

	private final AtomicLong delivered;

	private final Queue<Chunk> chunks = new ArrayDeque<>();

	private int waiting;

	private boolean ended;

	private boolean closed;

	private boolean blocked;

	ProxyFlow(SocketChannel source, SocketChannel target, AtomicLong delivered) {
		this.source = source;
		this.target = target;
		this.delivered = delivered;
	}

	/** Moves what can be moved now. */
	void pump(long now, long delayNanos) throws IOException {
		boolean more = true;
		while (more && wantsToRead()) {
			more = read(now + delayNanos);
		}
		this.blocked = false;
		for (Chunk chunk = this.chunks.peek(); isDue(chunk, now) && !this.blocked; chunk = this.chunks.peek()) {
			write(chunk.bytes());
		}
		if (this.ended && this.chunks.isEmpty() && !this.closed) {
			this.closed = true;
			this.target.shutdownOutput();
		}
	}

	boolean wantsToRead() {
		return !this.ended && this.waiting < LIMIT;
	}

	/** Whether the next byte has to wait for the receiver. */
	boolean wantsToWrite() {
		return this.blocked;
	}

	boolean isClosed() {
		return this.closed;
	}

	/** When the next chunk is due; the largest value if that needs no clock. */
	long nanosToNext(long now) {
		Chunk next = this.chunks.peek();
		return (next == null || this.blocked) ? Long.MAX_VALUE : next.due() - now;
	}

	private boolean read(long due) throws IOException {
		ByteBuffer bytes = ByteBuffer.allocate(CHUNK);
		int count = this.source.read(bytes);
		if (count > 0) {
			this.chunks.add(new Chunk(bytes.flip(), due));
			this.waiting += count;
		}
		this.ended = count < 0;
		return count > 0;
	}

	private void write(ByteBuffer bytes) throws IOException {
		int size = bytes.remaining();
		this.delivered.addAndGet(size); // before, for whoever receives them and asks
		int count = this.target.write(bytes);
		this.delivered.addAndGet(count - size);
		this.waiting -= count;
		this.blocked = bytes.hasRemaining();
		if (!this.blocked) {
			this.chunks.remove();
		}
	}

	private static boolean isDue(@Nullable Chunk chunk, long now) {
		return chunk != null && chunk.due() - now <= 0;
	}

	/**
	 * Bytes that are under way.
	 *
	 * @param bytes what is left of them
	 * @param due when they may arrive
	 */
	private record Chunk(ByteBuffer bytes, long due) {
	}

}
