package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseRequest;

/**
 * A program for a JVM with little address space: no thread can be created for a moment,
 * and then threads can be created again. Prints how attempts to take a lease end; its
 * store has no server.
 */
final class ScarceThreads {

	private static final int MOST_THREADS = 5000;

	private ScarceThreads() {
	}

	public static void main(String[] args) throws InterruptedException {
		PostgresLeaseStore store = new PostgresLeaseStore(() -> {
			throw new SQLException("no server here", "08001");
		}, "singleton-job test");
		attempt(store, "loads the classes", 5);
		CountDownLatch over = new CountDownLatch(1);
		List<Thread> idlers = startAsManyAsPossible(over);
		String first = attempt(store, "billing", 10);
		over.countDown();
		for (Thread idler : idlers) {
			idler.join();
		}
		System.out.println("FIRST " + first);
		System.out.println("SAME JOB " + attempt(store, "billing", 10));
		System.out.println("OTHER JOB " + attempt(store, "mails", 10));
	}

	private static String attempt(PostgresLeaseStore store, String job, int ttl) {
		try {
			return String.valueOf(store.tryAcquire(new LeaseRequest(new JobId("shop", job), "owner" + System.nanoTime(),
					"server-1", Duration.ofSeconds(ttl), Duration.ofSeconds(1), 0)));
		}
		catch (RuntimeException | Error ex) {
			return String.valueOf(ex);
		}
	}

	/** With large stacks first, and then with smaller ones that fill the gaps. */
	private static List<Thread> startAsManyAsPossible(CountDownLatch over) {
		List<Thread> idlers = new ArrayList<>();
		for (long stackMegabytes : new long[] { 64, 8, 1 }) {
			try {
				while (idlers.size() < MOST_THREADS) {
					idlers.add(start(over, stackMegabytes << 20));
				}
			}
			catch (OutOfMemoryError ex) {
				// The next size
			}
		}
		return idlers;
	}

	private static Thread start(CountDownLatch over, long stackSize) {
		Thread idler = new Thread(null, () -> {
			try {
				over.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}, "idler", stackSize);
		idler.setDaemon(true);
		idler.start();
		return idler;
	}

}
