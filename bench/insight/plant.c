/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/insight/plant.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/insight/plant_device.h"
#include "tests/truth/truth.h"

#define SPELLS (1u << 18)
#define GAPS (1u << 17)
#define QUEUED 2 /* tasks */
#define BREAK_NS 50000 /* a longer break means that the thread was not on the CPU */
#define RUN_NS 1000000
#define LATER_NS 200000 /* a spell may end this long after its item is delivered */

struct noted {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t root_ns; /* the fault's part of it */
	uint64_t ready_ns; /* its waits for a CPU that are no planted fault */
	bool waits; /* the thread waits for others */
	bool delivers; /* the item for which the device waits, at its end */
	bool locked; /* the main thread cannot go on during it */
	int tid;
};

struct gap {
	uint64_t start_ns;
	uint64_t end_ns;
};

/* Shared with child processes. */
struct shared {
	atomic_uint spells;
	struct noted spell[SPELLS];
};

static uint64_t task_ns, first_ns, free_ns; /* start of the first task; end of the last task */
static struct gap gaps[GAPS];
static uint32_t gap_count;
static struct gap fed[GAPS]; /* times in which the main thread did not wait for the device */
static uint32_t fed_count;
static uint64_t room_ns; /* start of the current one */
static struct shared *shared;

void plant_fail(const char *what)
{
	printf("failed=%s: %s\n", what, strerror(errno));
	fflush(stdout);
	exit(1);
}

EXPORT void plant_share(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		plant_fail("mmap");
}

EXPORT void plant_open(uint64_t ns)
{
	task_ns = ns;
	plant_share();
	device_open();
}

EXPORT void plant_set_task(uint64_t ns)
{
	task_ns = ns;
}

EXPORT void plant_task(uint64_t start_ns, uint64_t end_ns)
{
	if (!first_ns)
		first_ns = start_ns;
	else if (start_ns > free_ns && gap_count < GAPS)
		gaps[gap_count++] = (struct gap){ free_ns, start_ns };
	if (end_ns > free_ns)
		free_ns = end_ns;
}

EXPORT void plant_fed(uint64_t start_ns, uint64_t end_ns)
{
	if (fed_count < GAPS)
		fed[fed_count++] = (struct gap){ start_ns, end_ns };
}

EXPORT int plant_submit(uint64_t cost_ns)
{
	if (cost_ns)
		burn(cost_ns);
	if (room_ns)
		plant_fed(room_ns, clock_ns(CLOCK_MONOTONIC));
	room_ns = 0;
	device_submit(task_ns);
	return 0;
}

EXPORT int plant_SyncDevice(void)
{
	device_wait(0);
	room_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

EXPORT int plant_copy(uint64_t cost_ns)
{
	struct plant_spell spell;

	device_wait(0);
	room_ns = clock_ns(CLOCK_MONOTONIC);
	plant_begin(&spell);
	burn(cost_ns);
	plant_end(&spell, PLANT_CPU);
	return 0;
}

EXPORT int plant_wait_room(void)
{
	device_wait(QUEUED);
	room_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

static uint64_t own_ready_ns(void)
{
	unsigned long long ran, ready = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");

	if (!file || fscanf(file, "%llu %llu", &ran, &ready) != 2)
		plant_fail("schedstat");
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
	struct noted noted = { .start_ns = spell->start_ns,
			       .end_ns = clock_ns(CLOCK_MONOTONIC),
			       .tid = own_tid() };
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - spell->cpu_ns;
	uint64_t ready = own_ready_ns() - spell->ready_ns;
	uint64_t all = noted.end_ns - noted.start_ns;
	uint32_t at = atomic_fetch_add(&shared->spells, 1);

	if (at >= SPELLS)
		return;
	noted.ready_ns = kind == PLANT_OFF_CPU ? 0 : ready;
	noted.locked = kind == PLANT_LOCKED;
	noted.waits = kind == PLANT_NOTHING;
	noted.delivers = kind == PLANT_CPU || kind == PLANT_ASLEEP || kind == PLANT_ALL || noted.locked;
	if (kind == PLANT_CPU || noted.locked)
		noted.root_ns = cpu;
	else if (kind == PLANT_OFF_CPU)
		noted.root_ns = all > cpu ? all - cpu : 0;
	else if (kind == PLANT_ALL)
		noted.root_ns = all > ready ? all - ready : 0;
	else if (kind == PLANT_ASLEEP)
		noted.root_ns = all > cpu + ready ? all - cpu - ready : 0;
	shared->spell[at] = noted;
}

static void note_run(uint64_t start_ns, uint64_t end_ns)
{
	uint32_t at = atomic_fetch_add(&shared->spells, 1);

	if (at < SPELLS)
		shared->spell[at] = (struct noted){ .start_ns = start_ns,
						    .end_ns = end_ns,
						    .root_ns = end_ns - start_ns,
						    .tid = own_tid() };
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

/* An item that was not ready when the wait ended is a later one: the awaited item was under way. */
static bool is_later(const struct noted *spell, const struct gap *gap)
{
	return spell->delivers && !spell->locked && spell->end_ns > gap->end_ns + LATER_NS;
}

static uint64_t both_ns(const struct noted *spell, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t start = spell->start_ns > from_ns ? spell->start_ns : from_ns;
	uint64_t end = spell->end_ns < to_ns ? spell->end_ns : to_ns;

	return end > start ? end - start : 0;
}

static uint64_t overlap(const struct noted *spell, const struct gap *gap)
{
	return is_later(spell, gap) ? 0 : both_ns(spell, gap->start_ns, gap->end_ns);
}

/* Returns the worker for which the device waited: the last to deliver before the gap ended. 0: none delivered. */
static int deliverer(uint32_t first, uint32_t count, const struct gap *gap)
{
	uint64_t last_ns = 0;
	int tid = 0;

	for (uint32_t i = first; i < count && shared->spell[i].start_ns < gap->end_ns; i++) {
		const struct noted *spell = &shared->spell[i];

		if (spell->delivers && spell->end_ns > gap->start_ns && spell->end_ns > last_ns &&
		    spell->end_ns <= gap->end_ns + LATER_NS) {
			last_ns = spell->end_ns;
			tid = spell->tid;
		}
	}
	return tid;
}

/* Returns the time in which, in a gap, a spell overlaps the spells of @tid. */
static uint64_t beside(const struct noted *spell, const struct gap *gap, uint32_t first,
		       uint32_t count, int tid)
{
	uint64_t ns = 0;

	for (uint32_t i = first; i < count && shared->spell[i].start_ns < gap->end_ns; i++) {
		const struct noted *other = &shared->spell[i];
		if (other->tid == tid)
			ns += both_ns(spell,
				      other->start_ns > gap->start_ns ? other->start_ns
								      : gap->start_ns,
				      other->end_ns < gap->end_ns ? other->end_ns : gap->end_ns);
	}
	return ns;
}

/*
 * Returns the part of a spell's waits for a CPU that lies in a gap, of which @part_ns are in it. A thread that waits for
 * others, and whose wait ends the gap, had no CPU after it was woken: at the end. Of others it is not known when.
 */
static double ready_in(const struct noted *spell, const struct gap *gap, uint64_t part_ns)
{
	if (spell->waits && spell->end_ns + LATER_NS >= gap->end_ns)
		return (double)(spell->ready_ns < part_ns ? spell->ready_ns : part_ns);
	return (double)part_ns / (double)(spell->end_ns - spell->start_ns + 1) *
	       (double)spell->ready_ns;
}

/* Prints the composition of these times, as NAME_ns= lines. */
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
		int tid;

		all += times[g].end_ns - times[g].start_ns;
		while (first < count && shared->spell[first].start_ns + longest < times[g].start_ns)
			first++;
		tid = deliverer(first, count, &times[g]);
		for (uint32_t i = first; i < count && shared->spell[i].start_ns < times[g].end_ns;
		     i++) {
			const struct noted *spell = &shared->spell[i];
			uint64_t part = overlap(spell, &times[g]), own = part;
			double length = (double)(spell->end_ns - spell->start_ns + 1);

			if (tid && spell->delivers && spell->tid != tid)
				own -= own ? beside(spell, &times[g], first, count, tid) : 0;
			root += (double)own / length * (double)spell->root_ns;
			ready += ready_in(spell, &times[g], part);
		}
	}
	printf("%s.all_ns=%llu\n%s.root_ns=%.0f\n%s.ready_ns=%.0f\n", name,
	       (unsigned long long)all, name, root, name, ready);
}

EXPORT void plant_print(void)
{
	uint32_t count = shared->spells < SPELLS ? shared->spells : SPELLS;

	device_close();
	qsort(shared->spell, count, sizeof(shared->spell[0]), by_start);
	printf("first_ns=%llu\nwindow_ns=%llu\n", (unsigned long long)first_ns,
	       (unsigned long long)(free_ns - first_ns));
	print_times("idle", gaps, gap_count, count);
	print_times("fed", fed, fed_count, count);
	fflush(stdout);
}
