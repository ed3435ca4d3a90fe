package io.github.singletonjob.propagation;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

import io.micrometer.context.ContextExecutorService;
import io.micrometer.context.ContextSnapshotFactory;

/**
 * The threads that a job can hand work to.
 */
enum ThreadKind {

	/** Spring's {@code @Async} on Boot's executor. */
	ASYNC,

	/** A {@code CompletableFuture} on a pool of the application. */
	EXECUTOR,

	/** The same on a virtual thread for each task; needs JDK 21. */
	VIRTUAL,

	/** {@code @Async} with {@code spring.threads.virtual.enabled}; needs JDK 21. */
	VIRTUAL_ASYNC,

	/**
	 * The threads of parallel streams and, on three processors or more, of a
	 * {@code CompletableFuture} without an executor.
	 */
	COMMON_POOL;

	private static final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().build();

	boolean isVirtual() {
		return this == VIRTUAL || this == VIRTUAL_ASYNC;
	}

	/** Starts a task, with the means that an application has to propagate its context. */
	CompletableFuture<String> start(Callable<String> task, boolean propagated, AsyncWorker worker) {
		return switch (this) {
			case ASYNC, VIRTUAL_ASYNC -> worker.call(task);
			case EXECUTOR -> on(Executors.newSingleThreadExecutor(), task, propagated);
			case VIRTUAL -> on(virtualThreads(), task, propagated);
			case COMMON_POOL -> onCommonPool(propagated ? snapshots.captureAll().wrap(task) : task);
		};
	}

	private static CompletableFuture<String> on(ExecutorService executor, Callable<String> task, boolean propagated) {
		ExecutorService used = propagated ? ContextExecutorService.wrap(executor, snapshots::captureAll) : executor;
		CompletableFuture<String> result = CompletableFuture.supplyAsync(() -> AsyncWorker.answer(task), used);
		executor.shutdown();
		return result;
	}

	private static CompletableFuture<String> onCommonPool(Callable<String> task) {
		CompletableFuture<String> result = new CompletableFuture<>();
		ForkJoinPool.commonPool().execute(() -> result.complete(AsyncWorker.answer(task)));
		return result;
	}

	// The build compiles for JDK 17
	private static ExecutorService virtualThreads() {
		try {
			return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
		}
		catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException ex) {
			throw new IllegalStateException("No virtual threads on JDK " + Runtime.version(), ex);
		}
	}

}
