package io.github.singletonjob.redis;

import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;

/**
 * Counts how often a client hands what it has written over to the network.
 */
final class CountedFlushes implements NettyCustomizer {

	private final AtomicInteger flushes = new AtomicInteger();

	int count() {
		return this.flushes.get();
	}

	@Override
	public void afterChannelInitialized(Channel channel) {
		channel.pipeline().addFirst(new Counter());
	}

	/**
	 * Next to the socket.
	 */
	private final class Counter extends ChannelOutboundHandlerAdapter {

		@Override
		public void flush(ChannelHandlerContext context) throws Exception {
			CountedFlushes.this.flushes.incrementAndGet();
			super.flush(context);
		}

	}

}
