/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/insight/plant.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/stream_writer.h"
#include "tests/truth/truth.h"

#define EXPORT __attribute__((noinline, visibility("default")))
#define SPELLS (1u << 18)
#define GAPS (1u << 17)
#define QUEUED 2 /* tasks */
#define BREAK_NS 50000 /* who had no CPU for so long was not on it */
#define RUN_NS 1000000
#define LATER_NS 200000 /* a spell may end after what it delivers is there */

struct noted {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t root_ns; /* of it the fault */
	uint64_t ready_ns; /* of it without a CPU, through no planted fault */
	bool delivers; /* at its end, what the device waits for */
};

struct gap {
	uint64_t start_ns;
	uint64_t end_ns;
};

/* Shared with children. */
struct shared {
	atomic_uint spells;
	struct noted spell[SPELLS];
};

static struct stream_writer *writer;
static int device;
static uint64_t task_ns, first_ns, free_ns; /* when the first task began; when the last one ends */
static struct gap gaps[GAPS];
static uint32_t gap_count;
static struct gap fed[GAPS]; /* when the main thread did not wait for the device */
static uint32_t fed_count;
static uint64_t room_ns; /* since when it does not */
static struct shared *shared;

static void fail(const char *what)
{
	printf("failed=%s: %s\n", what, strerror(errno));
	fflush(stdout);
	exit(1);
}

EXPORT void plant_open(uint64_t ns)
{
	task_ns = ns;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		fail("mmap");
	writer = stream_writer_create("plant", STREAM_WRITER_SLOTS);
	if (!writer)
		fail("stream_writer_create");
	device = stream_writer_add_device(writer, "planted", "accelerator");
	stream_writer_declare_clock(writer, device, STREAM_CLOCK_MONOTONIC);
}

EXPORT void plant_set_task(uint64_t ns)
{
	task_ns = ns;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

EXPORT int plant_submit(uint64_t cost_ns)
{
	struct stream_task task = {
		.stream = 1,
		.tid = own_tid(),
		.device = device,
		.kind = STREAM_KERNEL,
	};
	uint64_t now;

	if (cost_ns)
		burn(cost_ns);
	task.correlation = stream_writer_begin(writer);
	now = clock_ns(CLOCK_MONOTONIC);
	if (room_ns && fed_count < GAPS)
		fed[fed_count++] = (struct gap){ room_ns, now };
	room_ns = 0;
	task.queued_ns = task.submit_ns = task.enqueue_ns = now;
	task.enqueue_dur_ns = 1;
	task.start_ns = now > free_ns ? now : free_ns;
	task.end_ns = task.start_ns + task_ns;
	if (!first_ns)
		first_ns = now;
	else if (now > free_ns && gap_count < GAPS)
		gaps[gap_count++] = (struct gap){ free_ns, now };
	free_ns = task.end_ns;
	stream_writer_put(writer, &task);
	return 0;
}

EXPORT int plant_copy(uint64_t cost_ns)
{
	struct plant_spell spell;

	if (clock_ns(CLOCK_MONOTONIC) < free_ns)
		sleep_until(free_ns);
	room_ns = clock_ns(CLOCK_MONOTONIC);
	plant_begin(&spell);
	burn(cost_ns);
	plant_end(&spell, PLANT_CPU);
	return 0;
}

EXPORT int plant_sync(void)
{
	if (clock_ns(CLOCK_MONOTONIC) < free_ns)
		sleep_until(free_ns);
	room_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

EXPORT int plant_wait_room(void)
{
	uint64_t queued_ns = QUEUED * task_ns;

	if (free_ns > clock_ns(CLOCK_MONOTONIC) + queued_ns)
		sleep_until(free_ns - queued_ns);
	room_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

static uint64_t own_ready_ns(void)
{
	unsigned long long ran, ready = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");

	if (!file || fscanf(file, "%llu %llu", &ran, &ready) != 2)
		fail("schedstat");
	fclose(file);
	return ready;
}

EXPORT void plant_begin(struct plant_spell *spell)
{
	spell->ready_ns = own_ready_ns();
	spell->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	spell->start_ns = clock_ns(CLOCK_MONOTONIC);
}

EXPORT void plant_end(const struct plant_spell *spell, int kind)
{
	struct noted noted = { .start_ns = spell->start_ns, .end_ns = clock_ns(CLOCK_MONOTONIC) };
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - spell->cpu_ns;
	uint64_t ready = own_ready_ns() - spell->ready_ns;
	uint64_t all = noted.end_ns - noted.start_ns;
	uint32_t at = atomic_fetch_add(&shared->spells, 1);

	if (at >= SPELLS)
		return;
	noted.ready_ns = kind == PLANT_OFF_CPU ? 0 : ready;
	noted.delivers = kind == PLANT_CPU || kind == PLANT_ASLEEP;
	if (kind == PLANT_CPU)
		noted.root_ns = cpu;
	else if (kind == PLANT_OFF_CPU)
		noted.root_ns = all > cpu ? all - cpu : 0;
	else if (kind == PLANT_ASLEEP)
		noted.root_ns = all > cpu + ready ? all - cpu - ready : 0;
	shared->spell[at] = noted;
}

static void note_run(uint64_t start_ns, uint64_t end_ns)
{
	uint32_t at = atomic_fetch_add(&shared->spells, 1);

	if (at < SPELLS)
		shared->spell[at] = (struct noted){ start_ns, end_ns, end_ns - start_ns, 0, false };
}

EXPORT void plant_burn(void)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), last = start;

	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now - last > BREAK_NS || now - start > RUN_NS) {
			note_run(start, last);
			start = now;
		}
		last = now;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct noted *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* What began while the device waited, and was not ready when it no longer did, is for a later item: this one was on its way. */
static bool is_later(const struct noted *spell, const struct gap *gap)
{
	return spell->delivers && spell->start_ns > gap->start_ns &&
	       spell->end_ns > gap->end_ns + LATER_NS;
}

static uint64_t overlap(const struct noted *spell, const struct gap *gap)
{
	uint64_t start = spell->start_ns > gap->start_ns ? spell->start_ns : gap->start_ns;
	uint64_t end = spell->end_ns < gap->end_ns ? spell->end_ns : gap->end_ns;

	if (is_later(spell, gap))
		return 0;
	return end > start ? end - start : 0;
}

/* What of these times each was, as NAME_ns= lines. */
static void print_times(const char *name, const struct gap *times, uint32_t time_count,
			uint32_t count)
{
	uint64_t all = 0, longest = 0;
	double root = 0, ready = 0;
	uint32_t first = 0;

	for (uint32_t i = 0; i < count; i++)
		if (shared->spell[i].end_ns - shared->spell[i].start_ns > longest)
			longest = shared->spell[i].end_ns - shared->spell[i].start_ns;
	for (uint32_t g = 0; g < time_count; g++) {
		all += times[g].end_ns - times[g].start_ns;
		while (first < count && shared->spell[first].start_ns + longest < times[g].start_ns)
			first++;
		for (uint32_t i = first; i < count && shared->spell[i].start_ns < times[g].end_ns;
		     i++) {
			const struct noted *spell = &shared->spell[i];
			double part = (double)overlap(spell, &times[g]) /
				      (double)(spell->end_ns - spell->start_ns + 1);

			root += part * (double)spell->root_ns;
			ready += part * (double)spell->ready_ns;
		}
	}
	printf("%s.all_ns=%llu\n%s.root_ns=%.0f\n%s.ready_ns=%.0f\n", name,
	       (unsigned long long)all, name, root, name, ready);
}

EXPORT void plant_print(void)
{
	uint32_t count = shared->spells < SPELLS ? shared->spells : SPELLS;

	while (clock_ns(CLOCK_MONOTONIC) < free_ns)
		sleep_until(free_ns);
	qsort(shared->spell, count, sizeof(shared->spell[0]), by_start);
	printf("window_ns=%llu\n", (unsigned long long)(free_ns - first_ns));
	print_times("idle", gaps, gap_count, count);
	print_times("fed", fed, fed_count, count);
	fflush(stdout);
}
