package io.github.singletonjob.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import org.jspecify.annotations.Nullable;

/**
 * Watches one key at a time for its end. Used on the {@link QueueThread} only, on which
 * it also tells what it hears.
 */
final class KeyWatch {

	private final EtcdConnection connection;

	private final QueueThread thread;

	private Watch.@Nullable Watcher watcher;

	private int number;

	KeyWatch(EtcdConnection connection, QueueThread thread) {
		this.connection = connection;
		this.thread = thread;
	}

	/**
	 * Watches a key, in the place of the last one.
	 * @param revision the first one that counts
	 * @param deleted is done whenever the key is deleted
	 * @param broken is done if the watch has ended
	 */
	void start(ByteSequence key, long revision, Runnable deleted, Runnable broken) {
		stop();
		int current = this.number;
		try {
			this.watcher = this.connection.watch(key, revision, new Watch.Listener() {
				@Override
				public void onNext(WatchResponse response) {
					if (response.getEvents()
						.stream()
						.anyMatch((event) -> event.getEventType() == WatchEvent.EventType.DELETE)) {
						whileCurrent(current, deleted);
					}
				}

				@Override
				public void onError(Throwable failure) {
					whileCurrent(current, broken);
				}

				@Override
				public void onCompleted() {
					whileCurrent(current, broken);
				}
			});
		}
		catch (RuntimeException ex) {
			whileCurrent(current, broken); // a client that is closed, for example
		}
	}

	private void whileCurrent(int expected, Runnable task) {
		this.thread.execute(() -> {
			if (this.number == expected) {
				task.run();
			}
		});
	}

	/** What was heard before does not count any more. */
	void stop() {
		this.number++;
		Watch.Watcher last = this.watcher;
		this.watcher = null;
		if (last != null) {
			last.close();
		}
	}

}
