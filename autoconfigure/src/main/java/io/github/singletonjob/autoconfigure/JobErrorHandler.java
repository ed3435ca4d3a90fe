package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeaseStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.TaskUtils;
import org.springframework.util.ErrorHandler;

/**
 * What the scheduler does with an exception of a scheduled method. A run that was lost,
 * refused or cancelled has its line in the log already. A store that does not answer gets
 * one, without a stack trace, and again from time to time while it is away. Anything else
 * is handled as Spring does.
 */
final class JobErrorHandler implements ErrorHandler {

	private static final Log logger = LogFactory.getLog(JobErrorHandler.class);

	private static final long PAUSE = Duration.ofSeconds(30).toNanos();

	private static final int MOST_REMEMBERED = 1000;

	private final ReentrantLock access = new ReentrantLock();

	/** When each message was logged last, the oldest first. */
	private final Map<String, Long> logged = new LinkedHashMap<>();

	private final LongSupplier nanoTime;

	JobErrorHandler(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
	}

	@Override
	public void handleError(Throwable thrown) {
		for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
			if (cause instanceof LeaseLostException || cause instanceof StaleTokenException) {
				logger.debug("A run has ended early", thrown);
				return;
			}
			if (cause instanceof LeaseStoreException) {
				reportUnanswered(String.valueOf(cause.getMessage()), thrown);
				return;
			}
		}
		TaskUtils.LOG_AND_SUPPRESS_ERROR_HANDLER.handleError(thrown);
	}

	private void reportUnanswered(String message, Throwable thrown) {
		if (isDue(message)) {
			logger.warn("Not run: " + message);
		}
		logger.debug("Not run", thrown);
	}

	private boolean isDue(String message) {
		long now = this.nanoTime.getAsLong();
		this.access.lock();
		try {
			Long last = this.logged.get(message);
			if (last != null && now - last < PAUSE) {
				return false;
			}
			this.logged.remove(message);
			this.logged.put(message, now);
			if (this.logged.size() > MOST_REMEMBERED) {
				this.logged.remove(this.logged.keySet().iterator().next());
			}
			return true;
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * Gives it to the schedulers that have no handler of their own. It is no bean of its
	 * type, which Spring Boot would give to listeners of messages as well.
	 */
	static class SchedulerPostProcessor implements BeanPostProcessor {

		private static final String PROPERTY = "errorHandler";

		private final JobErrorHandler handler = new JobErrorHandler(System::nanoTime);

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) {
			if (bean instanceof ThreadPoolTaskScheduler scheduler && hasNone(bean)) {
				scheduler.setErrorHandler(this.handler);
			}
			else if (bean instanceof SimpleAsyncTaskScheduler scheduler && hasNone(bean)) {
				scheduler.setErrorHandler(this.handler);
			}
			return bean;
		}

		/** There is no other way to find out; if this one goes, they stay as they are. */
		private static boolean hasNone(Object scheduler) {
			DirectFieldAccessor fields = new DirectFieldAccessor(scheduler);
			return fields.isReadableProperty(PROPERTY) && fields.getPropertyValue(PROPERTY) == null;
		}

	}

}
