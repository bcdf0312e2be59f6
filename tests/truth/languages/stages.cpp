// SPDX-License-Identifier: Apache-2.0
// A data pipeline of plain C++ threads: a reader, WORKERS threads called decode0, decode1, ... and the main thread, with
// std::mutex and std::condition_variable between them.
//
//     stages WORKERS ITEMS sleep|burn|none MS
//
// The fault is in decode(). Prints "ready", waits for a line, prints wait_ns= and loop_ns= of the main thread.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

class Queue {
	std::mutex mutex;
	std::condition_variable filled, emptied;
	std::deque<int> items;
	size_t capacity;

public:
	explicit Queue(size_t size) : capacity(size) {}
	void put(int item)
	{
		std::unique_lock<std::mutex> lock(mutex);
		emptied.wait(lock, [this] { return items.size() < capacity; });
		items.push_back(item);
		filled.notify_one();
	}
	int get()
	{
		std::unique_lock<std::mutex> lock(mutex);
		filled.wait(lock, [this] { return !items.empty(); });
		int item = items.front();
		items.pop_front();
		emptied.notify_one();
		return item;
	}
};

static long cpu_ns()
{
	timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static long now_ns()
{
	return std::chrono::steady_clock::now().time_since_epoch().count();
}

static void burn(long ns)
{
	for (long end = cpu_ns() + ns; cpu_ns() < end;)
		;
}

extern "C" __attribute__((noinline)) void decode(const char *fault, long ns)
{
	if (!strcmp(fault, "sleep"))
		std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
	else if (!strcmp(fault, "burn"))
		burn(ns);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	int workers = std::stoi(argv[1]), items = std::stoi(argv[2]);
	const char *fault = argv[3];
	long ns = std::stol(argv[4]) * 1000000;
	Queue source(4 * workers), sink(2 * workers);
	std::vector<std::thread> threads;
	long waited = 0;

	for (int i = 0; i < workers; i++)
		threads.emplace_back([&, i] {
			pthread_setname_np(pthread_self(), ("decode" + std::to_string(i)).c_str());
			for (int item; (item = source.get()) >= 0; sink.put(item))
				decode(fault, ns);
		});
	puts("ready");
	fflush(stdout);
	getchar();
	threads.emplace_back([&] {
		pthread_setname_np(pthread_self(), "reader");
		for (int i = 0; i < items; i++)
			source.put(i);
		for (int i = 0; i < workers; i++)
			source.put(-1);
	});
	long begin = now_ns();
	for (int i = 0; i < items; i++) {
		long before = now_ns();
		sink.get();
		waited += now_ns() - before;
		burn(1000000);
	}
	printf("wait_ns=%ld\nloop_ns=%ld\n", waited, now_ns() - begin);
	for (auto &thread : threads)
		thread.join();
	return 0;
}
