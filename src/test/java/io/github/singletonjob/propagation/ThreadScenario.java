package io.github.singletonjob.propagation;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.JobOptions;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.autoconfigure.SingletonJobAutoConfiguration;
import io.github.singletonjob.fencing.JdbcFence;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.servers.PostgresServer;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.EnableAsync;

/**
 * A job that hands its work to other threads: reads its run there, and writes there while
 * it holds its lease, after another holder has begun, and after it has ended.
 */
public final class ThreadScenario {

	private static final long LIMIT_SECONDS = 30;

	private final ThreadKind kind;

	private final boolean propagated;

	private final ConfigurableApplicationContext context;

	private final JdbcClient jdbc;

	private ThreadScenario(ThreadKind kind, boolean propagated, ConfigurableApplicationContext context) {
		this.kind = kind;
		this.propagated = propagated;
		this.context = context;
		this.jdbc = context.getBean(JdbcClient.class);
	}

	/**
	 * Plays it in a JVM of its own and prints the findings.
	 * @param arguments the kind of thread, whether the context is propagated, and the URL
	 * of a database
	 * @throws Exception if it could not be played
	 */
	public static void main(String[] arguments) throws Exception {
		Findings findings = play(ThreadKind.valueOf(arguments[0]), Boolean.parseBoolean(arguments[1]), arguments[2]);
		System.out.println("THREAD " + findings.thread());
		System.out.println("READ " + findings.read());
		System.out.println("HELD " + findings.whileHeld());
		System.out.println("SUPERSEDED " + findings.superseded());
		System.out.println("ENDED " + findings.ended());
		System.out.println("ROWS " + findings.rows());
	}

	static Findings play(ThreadKind kind, boolean propagated, String url) throws Exception {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class).run(
				"--spring.datasource.url=" + url, "--spring.datasource.username=" + PostgresServer.USERNAME,
				"--singleton-job.store=in-memory", "--singleton-job.namespace=shop",
				"--spring.main.web-application-type=none", "--spring.task.execution.propagate-context=" + propagated,
				"--spring.threads.virtual.enabled=" + (kind == ThreadKind.VIRTUAL_ASYNC))) {
			return new ThreadScenario(kind, propagated, context).play();
		}
	}

	private Findings play() throws Exception {
		this.jdbc.sql("create table invoice (id int primary key)").update();
		String[] seen = new String[5];
		run("reading", (run) -> {
			seen[0] = answer(() -> Thread.currentThread().toString());
			seen[1] = answer(() -> "token above by " + (JobRun.current().token() - run.token()));
			seen[2] = answer(() -> write(1));
		});
		run("superseded", (run) -> {
			raiseAbove(run);
			seen[3] = answer(() -> write(2));
		});
		CountDownLatch ended = new CountDownLatch(1);
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<?>[] late = new CompletableFuture<?>[1];
		run("ended", (run) -> {
			late[0] = start(() -> {
				begun.countDown();
				return ended.await(LIMIT_SECONDS, TimeUnit.SECONDS) ? write(3) : "never told";
			});
			begun.await(LIMIT_SECONDS, TimeUnit.SECONDS);
		});
		ended.countDown();
		seen[4] = (String) late[0].get(LIMIT_SECONDS, TimeUnit.SECONDS);
		List<Integer> rows = this.jdbc.sql("select id from invoice order by id").query(Integer.class).list();
		return new Findings(seen[0], seen[1], seen[2], seen[3], seen[4], rows);
	}

	private void run(String job, io.github.singletonjob.JobBody body) {
		this.context.getBean(SingletonJobs.class).run(job, JobOptions.defaults().withOnLost(OnLost.SIGNAL), body);
	}

	private CompletableFuture<String> start(Callable<String> task) {
		return this.kind.start(task, this.propagated, this.context.getBean(AsyncWorker.class));
	}

	private String answer(Callable<String> task) throws Exception {
		return start(task).get(LIMIT_SECONDS, TimeUnit.SECONDS);
	}

	private String write(int id) {
		this.jdbc.sql("insert into invoice values (?)").param(id).update();
		return "written";
	}

	private void raiseAbove(JobRun run) {
		LeaseRequest request = new LeaseRequest(new JobId("shop", run.job()), "successor", "server-2",
				Duration.ofSeconds(30), Duration.ofSeconds(5), 0);
		LeaseGrant successor = new LeaseGrant(request, run.token() + 1, null, false);
		new JdbcFence(this.context.getBean(DataSource.class)).raise(successor, "server-2", Duration.ofSeconds(5));
	}

	/**
	 * What became of the tasks.
	 *
	 * @param thread the thread that they were on
	 * @param read what reading the run answered
	 * @param whileHeld what a write answered while the lease was held
	 * @param superseded the same after another holder had begun
	 * @param ended the same after the run had ended
	 * @param rows the rows that were written
	 */
	record Findings(String thread, String read, String whileHeld, String superseded, String ended, List<Integer> rows) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
			JdbcClientAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
			SingletonJobAutoConfiguration.class })
	static class Application {

		@Bean
		AsyncWorker asyncWorker() {
			return new AsyncWorker();
		}

	}

}
