// SPDX-License-Identifier: Apache-2.0
// Exceptions, cancelled threads and walks of the stack.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <vector>

#include "cases.h"

// Returns how many of @rounds calls of @function threw.
template <typename Function> static int thrown(int rounds, Function function)
{
	int caught = 0;

	for (int i = 0; i < rounds; i++) {
		try {
			function(i);
		} catch (const std::exception &) {
			caught++;
		} catch (int) {
			caught++;
		}
	}
	return caught;
}

static bool throws(void)
{
	return thrown(victim_rounds(), victim_outer) == victim_rounds() / 2;
}

static bool caught_below(void)
{
	int caught = 0;

	for (int i = 0; i < victim_rounds(); i++)
		caught += victim_catch(i) == -1;
	return caught == victim_rounds() / 2;
}

static bool deep(void)
{
	return thrown(victim_rounds() / 10, [](int i) { victim_deep(i, 40); }) ==
	       victim_rounds() / 20;
}

static bool threads(void)
{
	std::vector<std::thread> all;
	std::atomic<int> good{ 0 };

	for (int i = 0; i < 8; i++)
		all.emplace_back([&good] { good += throws() && caught_below(); });
	for (std::thread &one : all)
		one.join();
	return good == 8;
}

static bool loaded(void)
{
	void *plugin = dlopen("libvictim_plugin.so", RTLD_NOW);
	auto call = plugin ? reinterpret_cast<int (*)(int (*)(int), int)>(
				     dlsym(plugin, "victim_plugin_call"))
			   : nullptr;

	return call && thrown(victim_rounds(), [call](int i) { call(victim_outer, i); }) ==
			       victim_rounds() / 2;
}

static bool tail(void)
{
	return thrown(victim_rounds(), victim_tail) == victim_rounds() / 2;
}

static bool rethrow(void)
{
	return thrown(victim_rounds(), victim_rethrow) == victim_rounds() / 2;
}

// Counts its destructions.
struct destroyed {
	std::atomic<int> &count;
	~destroyed()
	{
		count++;
	}
};

struct blocked {
	std::atomic<int> destroyed_count{ 0 };
	sem_t there;
	int fd;
};

static void *block(void *argument)
{
	blocked *of = static_cast<blocked *>(argument);
	destroyed object{ of->destroyed_count };

	sem_post(&of->there);
	victim_block(of->fd);
	return nullptr;
}

static bool cancel(void)
{
	int rounds = victim_rounds() / 4, pipes[2];
	blocked of;

	if (pipe(pipes))
		return false;
	of.fd = pipes[0];
	sem_init(&of.there, 0, 0);
	for (int i = 0; i < rounds; i++) {
		pthread_t thread;

		pthread_create(&thread, nullptr, block, &of);
		sem_wait(&of.there);
		/* Half of the threads are asleep by then. */
		if (i & 1)
			usleep(2000);
		pthread_cancel(thread);
		pthread_join(thread, nullptr);
	}
	close(pipes[0]);
	close(pipes[1]);
	return of.destroyed_count == rounds;
}

static void *end_thread(void *argument)
{
	destroyed object{ *static_cast<std::atomic<int> *>(argument) };

	victim_end_thread();
	return nullptr;
}

static bool thread_exit(void)
{
	int rounds = victim_rounds() / 4;
	std::atomic<int> count{ 0 };

	for (int i = 0; i < rounds; i++) {
		pthread_t thread;

		pthread_create(&thread, nullptr, end_thread, &count);
		pthread_join(thread, nullptr);
	}
	return count == rounds;
}

static bool backtraces(void)
{
	static int first, walked;
	void *frames[64];

	for (int i = 0; i < victim_rounds(); i++) {
		int depth = victim_backtrace(frames, 64), also = victim_unwind_backtrace();

		if (!first)
			printf("depth %d %d\n", depth, also);
		else if (depth != first || also != walked)
			return false;
		first = depth;
		walked = also;
	}
	return true;
}

static bool leaves(void)
{
	bool ok = true;

	for (int i = 0; i < victim_rounds(); i++)
		ok &= victim_leaf(i) == 3 * i;
	return ok;
}

static void crashed(int)
{
	void *frames[64];

	printf("crash depth %d\n", backtrace(frames, 64));
	victim_print("crash_handler", true);
	_exit(3);
}

static void dereference(void *)
{
	victim_fault(nullptr);
}

static void crash(void)
{
	signal(SIGSEGV, crashed);
	victim_work(dereference, nullptr);
}

const victim_case unwinding_cases[] = {
	{ "throw", throws, false, nullptr },
	{ "caught_below", caught_below, false, nullptr },
	{ "deep_throw", deep, false, nullptr },
	{ "threads", threads, false, nullptr },
	{ "dlopen", loaded, false, nullptr },
	{ "tail_call", tail, false, nullptr },
	{ "rethrow", rethrow, false, nullptr },
	{ "cancel", cancel, false, nullptr },
	{ "thread_exit", thread_exit, false, nullptr },
	{ "backtrace", backtraces, false, nullptr },
	{ "crash_handler", leaves, false, crash },
	{ nullptr, nullptr, false, nullptr },
};
