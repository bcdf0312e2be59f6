// SPDX-License-Identifier: Apache-2.0
import com.sun.nio.file.ExtendedOpenOption;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** java_jobs LIBRARY KIND faulty|healthy TASK_US PERCENT SECONDS [DISK]: faults in a pool of threads; main takes their items. */
class java_jobs {
	static final int NOTHING = 0, CPU = 1, ASLEEP = 2, WORKERS = 4, BLOCK = 64 << 10, BYTES = 64 << 20;
	static final Object lock = new Object();
	static final ArrayBlockingQueue<Integer> items = new ArrayBlockingQueue<>(3);
	static final ExecutorService pool = Executors.newFixedThreadPool(WORKERS);
	static long itemNs;
	static volatile long sum;

	static native void open(long ns);
	static native void go();
	static native void room();
	static native void submit();
	static native void begin();
	static native void end(int kind);
	static native long cpu();
	static native void done(String expected);

	static void count(long ns) {
		for (long end = cpu() + ns; cpu() < end;)
			for (int i = 0; i < 1000; i++)
				sum += i;
	}

	/** Threads that could count at once, but a monitor lets one at a time do so. */
	static void countInTurn() {
		try {
			for (;;) {
				synchronized (lock) {
					begin();
					count(itemNs);
					end(CPU);
				}
				items.put(1);
			}
		} catch (InterruptedException e) {
			return;
		}
	}

	static void read(String disk) {
		try (FileChannel file = FileChannel.open(Path.of(disk), StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
			ByteBuffer buffer = ByteBuffer.allocateDirect(BLOCK + 4096).alignedSlice(4096).limit(BLOCK);
			for (long at = 0;; at = (at + BLOCK) % BYTES) {
				buffer.clear().limit(BLOCK);
				begin();
				file.read(buffer, at);
				end(ASLEEP);
				items.put(1);
			}
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		boolean faulty = args[2].equals("faulty"), reads = args[1].equals("java_file");
		long taskNs = 1000 * Long.parseLong(args[3]);

		System.load(args[0]);
		itemNs = faulty ? taskNs * Long.parseLong(args[4]) / 100 : taskNs / 8;
		long rounds = (long) (Double.parseDouble(args[5]) * 1e9 / Math.max(itemNs, taskNs));
		count(20_000_000); // until it is compiled
		open(taskNs);
		go();
		for (int i = 0; i < (reads ? 1 : WORKERS); i++)
			pool.execute(reads ? () -> read(args[6]) : java_jobs::countInTurn);
		for (long i = 0; i <= rounds; i++) {
			room();
			begin();
			items.take();
			end(NOTHING);
			submit();
		}
		done(reads ? "causes=io" : "causes=user_code");
	}
}
