package io.github.singletonjob.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.JobRunEvent;
import io.github.singletonjob.SingletonJob;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * An application as a process, two of whose jobs are held for as long as they may, while
 * others fire each second. Says what becomes of them on its standard output.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
@EnableScheduling
@Import(OutageProcess.Jobs.class)
public class OutageProcess {

	/** How long the shorter lease lasts. */
	static final Duration HASTY = Duration.ofSeconds(4);

	public static void main(String[] args) throws IOException {
		Jobs jobs = SpringApplication.run(OutageProcess.class, args).getBean(Jobs.class);
		BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String job = questions.readLine(); job != null; job = questions.readLine()) {
			jobs.tell(job);
		}
	}

	static void say(String line) {
		System.out.println("SAYS " + line + " @" + System.currentTimeMillis());
	}

	static class Jobs {

		private final Map<String, JobRun> held = new ConcurrentHashMap<>();

		private final CountDownLatch never = new CountDownLatch(1);

		@EventListener(ApplicationReadyEvent.class)
		void ready() {
			say("READY");
		}

		@Scheduled(fixedDelay = 1000)
		@SingletonJob(value = "patient", ttl = "30s")
		void patient() throws InterruptedException {
			hold();
		}

		@Scheduled(fixedDelay = 1000)
		@SingletonJob(value = "hasty", ttl = "4s")
		void hasty() throws InterruptedException {
			hold();
		}

		@Scheduled(fixedRate = 1000)
		@SingletonJob("first")
		void first() {
			say("RAN first");
		}

		@Scheduled(fixedRate = 1000)
		@SingletonJob("second")
		void second() {
			say("RAN second");
		}

		@Scheduled(fixedRate = 1000)
		@SingletonJob("third")
		void third() {
			say("RAN third");
		}

		/** Until it is lost. */
		private void hold() throws InterruptedException {
			JobRun run = JobRun.current();
			this.held.put(run.job(), run);
			say("HOLDS " + run.job() + " " + run.token());
			if (this.never.await(Duration.ofHours(1).toMillis(), TimeUnit.MILLISECONDS)) {
				throw new IllegalStateException("Nobody counts it down");
			}
		}

		@EventListener
		void lost(JobRunEvent.Lost event) {
			say("LOST " + event.job() + " " + event.token());
		}

		void tell(String job) {
			JobRun run = this.held.get(job);
			say("KNOWS " + job + ((run == null) ? " nothing"
					: " " + run.token() + " held=" + run.isHeld() + " remaining=" + run.remaining().toMillis()));
		}

	}

}
