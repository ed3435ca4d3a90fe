package io.github.singletonjob.servers;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

/**
 * The port of a {@link TcpProxy}, which can be closed and opened again.
 */
final class ProxyListener {

	private final Selector selector;

	private final int port = Ports.free();

	private @Nullable ServerSocketChannel channel;

	private boolean listening;

	ProxyListener(Selector selector) {
		this.selector = selector;
	}

	int port() {
		return this.port;
	}

	/** Closed unless it accepts; while the network is cut the kernel answers alone. */
	void apply(ProxyState state) throws IOException {
		if (!state.accepting() && this.channel != null) {
			this.channel.close();
			this.channel = null;
		}
		if (state.accepting() && this.channel == null) {
			this.channel = open();
		}
		this.listening = state.accepting() && !state.isCut();
		if (this.channel != null) {
			this.channel.keyFor(this.selector).interestOps(this.listening ? SelectionKey.OP_ACCEPT : 0);
		}
	}

	/** The next client that waits, if one does. */
	@Nullable SocketChannel accept() throws IOException {
		return (this.channel != null && this.listening) ? this.channel.accept() : null;
	}

	private ServerSocketChannel open() throws IOException {
		ServerSocketChannel opened = ServerSocketChannel.open().bind(Ports.at(this.port));
		opened.configureBlocking(false);
		opened.register(this.selector, 0);
		return opened;
	}

}
