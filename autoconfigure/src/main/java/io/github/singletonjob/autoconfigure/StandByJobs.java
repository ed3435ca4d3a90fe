package io.github.singletonjob.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.runtime.StandByJob;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.ReflectionUtils;

/**
 * The jobs of this application that an instance stands by for. A job is started by a call
 * of its method on its bean, as the scheduler does it, so that every proxy has its part.
 */
class StandByJobs {

	private static final Log logger = LogFactory.getLog(StandByJobs.class);

	private final List<StandByJob> jobs = new CopyOnWriteArrayList<>();

	private final BeanFactory beanFactory;

	StandByJobs(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/** Enters a job if there is something to stand by for. */
	void add(String beanName, JobDefinition job) {
		if (job.hasStandBy()) {
			this.jobs.add(new StandByJob(job.id(), job.settings().timing(), job.schedules().names(),
					(firing) -> attempt(beanName, job, firing)));
		}
	}

	List<StandByJob> all() {
		return this.jobs;
	}

	private RunResult attempt(String beanName, JobDefinition job, @Nullable Firing firing) throws Throwable {
		Object bean = this.beanFactory.getBean(beanName);
		Method method = AopUtils.selectInvocableMethod(job.method(), bean.getClass());
		ReflectionUtils.makeAccessible(method);
		try (JobCalls.RequestedRun requested = JobCalls.RequestedRun.open(job.id(), firing)) {
			Throwable thrown = call(bean, method);
			RunResult result = requested.result();
			if (result != null) {
				report(job, result);
				return result;
			}
			throw (thrown != null) ? thrown : new IllegalStateException("the call of " + job.describeMethod()
					+ " did not reach its job: is there an @Async on it, or an aspect that did not proceed?");
		}
	}

	private static @Nullable Throwable call(Object bean, Method method) {
		try {
			Object value = method.invoke(bean);
			if (value instanceof CompletionStage<?> stage) {
				stage.toCompletableFuture().get();
			}
			return null;
		}
		catch (InvocationTargetException ex) {
			return ex.getTargetException();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return ex;
		}
		catch (ExecutionException | CompletionException ex) {
			return ex.getCause();
		}
		catch (ReflectiveOperationException | RuntimeException ex) {
			return ex;
		}
	}

	private static void report(JobDefinition job, RunResult result) {
		if (result.outcome() == RunOutcome.FAILED) {
			logger.error(job.id().name() + ": the run with token " + result.token() + " failed", result.failure());
		}
	}

}
