package io.github.singletonjob.propagation;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import org.springframework.scheduling.annotation.Async;

/**
 * A bean that works on the threads of Boot's executor.
 */
class AsyncWorker {

	@Async
	CompletableFuture<String> call(Callable<String> task) {
		return CompletableFuture.completedFuture(answer(task));
	}

	/** What a task answers, or which exception it ends with. */
	static String answer(Callable<String> task) {
		try {
			return task.call();
		}
		catch (Exception ex) {
			return ex.getClass().getSimpleName() + ": " + ex.getMessage();
		}
	}

}
