// SPDX-License-Identifier: Apache-2.0
/*
 * unwind.cc - known chains of calls of a program without frame pointers: of the first thread and of another one, through
 * the C++ library, with frames of a size that only the run knows, with aligned ones, in a signal handler.
 *
 * To be compiled with -O2 -fomit-frame-pointer. As in truth.h; an argument is for how many milliseconds of
 * CPU time each of the two threads works in each of the ways.
 */
#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <thread>

#define NOIPA __attribute__((noipa))

static uint64_t work_ns;
static volatile uint64_t sink;

static uint64_t cpu_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Leaves the frame pointer's register holding anything. */
NOIPA static void spin(uint64_t until_ns)
{
	while (cpu_ns() < until_ns) {
		uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

		for (int i = 0; i < 100000; i++) {
			a = a * 5 + f;
			b ^= a;
			c += b << 3;
			d = d * 3 + c;
			e ^= d >> 2;
			f += e;
		}
		sink = a + b + c + d + e + f;
	}
}

NOIPA static void sorted_leaf(uint64_t until_ns)
{
	int numbers[2] = { 2, 1 };

	std::sort(numbers, numbers + 2, [until_ns](int a, int b) {
		spin(until_ns);
		return a < b;
	});
	sink = numbers[0];
}

NOIPA static void room_chain(int depth, uint64_t until_ns)
{
	volatile char *room = static_cast<volatile char *>(alloca(64 + depth * 48));

	room[depth] = 1;
	if (depth > 1) {
		room_chain(depth - 1, until_ns);
	} else {
		const std::function<void(uint64_t)> call = sorted_leaf;

		call(until_ns);
	}
	sink = room[depth];
}

NOIPA static void aligned_chain(int depth, uint64_t until_ns)
{
	alignas(64) volatile char room[256];

	room[depth] = 1;
	if (depth > 1)
		aligned_chain(depth - 1, until_ns);
	else
		spin(until_ns);
	sink = room[depth];
}

NOIPA static void on_signal(int)
{
	spin(cpu_ns() + work_ns);
	sink = 1; /* not the last thing is a call: its frame is there meanwhile */
}

NOIPA static void interrupted(uint64_t)
{
	raise(SIGUSR1);
	sink = 1;
}

NOIPA static void work()
{
	room_chain(6, cpu_ns() + work_ns);
	aligned_chain(3, cpu_ns() + work_ns);
	interrupted(0);
	sink = 2;
}

int main(int argc, char **argv)
{
	work_ns = (argc > 1 ? strtoull(argv[1], nullptr, 10) : 1000) * 1000000;
	signal(SIGUSR1, on_signal);
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	std::thread other(work);
	work();
	other.join();
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
