package io.github.singletonjob.runtime;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The threads of the runtime.
 */
class DaemonThreadsTests {

	@Test
	void bodiesAndListenersFindTheClassesOfTheApplication() throws Exception {
		try (URLClassLoader application = new URLClassLoader(new URL[0]); DaemonThreads threads = new DaemonThreads()) {
			threads.useContextClassLoader(application);
			CompletableFuture<ClassLoader> worker = new CompletableFuture<>();
			CompletableFuture<ClassLoader> timer = new CompletableFuture<>();
			threads.execute(() -> worker.complete(Thread.currentThread().getContextClassLoader()));
			threads.after(Duration.ZERO, () -> timer.complete(Thread.currentThread().getContextClassLoader()));
			assertThat(worker.get(10, TimeUnit.SECONDS)).isSameAs(application);
			assertThat(timer.get(10, TimeUnit.SECONDS)).isSameAs(application);
		}
	}

}
