/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_hour - writes a recording of a host like that of a long session: records of each second, and a training loop.
 *
 *	make_hour FILE [SECONDS [CPUS]]
 *
 * The default is an hour of 8 CPUs. Each second: clocks, figures of each CPU, accounts of the threads of 24 processes.
 * Ten times a second on each CPU a trainer launches a kernel with one of 40 names, waits for its data loader and is
 * woken by it; only the host is recorded, or, for an odd number of CPUs, a device too. No turn repeats another exactly.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/trace_builder.h"

#define SECOND 1000000000ull
#define MS 1000000ull
#define US 1000ull
#define START (1000 * SECOND)
#define CPUS_MAX 64u
#define TURNS 10 /* a second */
#define JOB 1000u
#define LOADERS 2000u
#define OTHERS 3000u
#define OTHER_COUNT 24u
#define KERNELS 40u

enum { LAUNCH = 1, SYNC, FETCH };

static uint32_t cpus = 8;
static uint64_t seconds = 3600;

/* A random number, the same for each run, and sufficiently uniform. */
static uint64_t random_below(uint64_t bound)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % bound;
}

static void add_head(struct trace_builder *b)
{
	static const uint32_t targets[] = { JOB };
	static const struct trace_function functions[] = {
		{ .id = LAUNCH, .runtime = "cudart", .name = "cudaLaunchKernel", .kind = PROFBPF__FUNCTION__KIND__LAUNCH },
		{ .id = SYNC, .runtime = "cudart", .name = "cudaStreamSynchronize", .kind = PROFBPF__FUNCTION__KIND__SYNC },
		{ .id = FETCH, .runtime = "torch", .name = "next_batch", .kind = PROFBPF__FUNCTION__KIND__OTHER },
	};

	trace_segment(b, &(struct trace_segment){ .start_ns = START,
						  .start_realtime_ns = 1760000000 * SECOND,
						  .cpus = cpus,
						  .targets = targets,
						  .target_count = 1 });
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		trace_function(b, &functions[i]);
	for (uint32_t i = 0; i < cpus; i++) {
		trace_target(b, START, JOB, JOB + i, i ? "trainer" : "python3");
		trace_target(b, START, JOB, LOADERS + i, "loader");
	}
	for (uint32_t i = 0; i < OTHER_COUNT; i++) {
		char name[16];

		snprintf(name, sizeof(name), "service-%u", i);
		trace_task(b, &(struct trace_task_row){ .ts_ns = START,
							.tid = OTHERS + i,
							.tgid = OTHERS + i,
							.start_ns = 1,
							.name = name,
							.cmdline = name });
	}
	if (cpus % 2)
		trace_device(b, &(struct trace_device){ .id = 1, .tgid = JOB, .name = "made up" });
}

static void add_account(struct trace_builder *b, uint64_t ts_ns, uint32_t tgid, uint32_t tid, uint64_t run_ns)
{
	trace_account(b, &(struct trace_account_row){ .ts_ns = ts_ns,
						      .tid = tid,
						      .tgid = tgid,
						      .run_ns = run_ns,
						      .runnable_ns = run_ns / 20,
						      .user_ns = run_ns / 2,
						      .system_ns = run_ns / 2,
						      .voluntary = run_ns / MS });
}

/* Adds the kernel's counts up to this second. */
static void add_figures(struct trace_builder *b, uint64_t second)
{
	static struct trace_cpu_row rows[CPUS_MAX];
	static uint64_t run_ns[2 * CPUS_MAX + OTHER_COUNT];
	uint64_t ts_ns = START + second * SECOND;

	trace_clock(b, &(struct trace_clock){ .monotonic_ns = ts_ns,
					      .monotonic_raw_ns = ts_ns,
					      .boottime_ns = ts_ns,
					      .realtime_ns = 1760000000 * SECOND + second * SECOND });
	for (uint32_t i = 0; i < cpus; i++) {
		uint64_t busy = random_below(SECOND);

		rows[i].cpu = i;
		rows[i].user_ns += busy / 4 * 3;
		rows[i].system_ns += busy - busy / 4 * 3;
		rows[i].idle_ns += SECOND - busy;
	}
	trace_cpu_stats(b, &(struct trace_host_row){ .ts_ns = ts_ns, .context_switches = second * 1000, .runnable = 1 }, rows, cpus);
	for (uint32_t i = 0; i < 2 * cpus + OTHER_COUNT; i++) {
		uint32_t other = i < 2 * cpus ? 0 : OTHERS + i - 2 * cpus;
		uint32_t tid = other ? other : i < cpus ? JOB + i : LOADERS + i - cpus;

		run_ns[i] += random_below(SECOND / 4);
		add_account(b, ts_ns, other ? other : JOB, tid, run_ns[i]);
	}
}

static void add_call(struct trace_builder *b, uint32_t cpu, uint32_t function, uint64_t start_ns, uint64_t end_ns,
		     const char *text)
{
	trace_call(b, &(struct trace_call_row){ .cpu = cpu,
						.start_ns = start_ns,
						.end_ns = end_ns,
						.tid = JOB + cpu,
						.tgid = JOB,
						.function = function,
						.args = { 1 },
						.text = text });
}

/* A turn of the loop: a wait for data from the loader, a launch of a kernel, a wait for its end. */
struct turn {
	uint64_t start_ns, data_ns, launch_ns, done_ns;
	char kernel[32];
};

static void make_turn(struct turn *turn, uint64_t start_ns)
{
	turn->start_ns = start_ns;
	turn->data_ns = start_ns + 5 * MS + random_below(20 * MS);
	turn->launch_ns = turn->data_ns + 2 * MS;
	turn->done_ns = turn->launch_ns + 10 * MS + random_below(40 * MS);
	snprintf(turn->kernel, sizeof(turn->kernel), "kernel_%llu", (unsigned long long)random_below(KERNELS));
}

static void add_switches(struct trace_builder *b, uint32_t cpu, const struct turn *t)
{
	const uint32_t trainer = JOB + cpu, loader = LOADERS + cpu;
	const uint32_t both = PROFBPF__SWITCHES__FLAG__PREV_TARGET | PROFBPF__SWITCHES__FLAG__NEXT_TARGET;
	const struct trace_switch_row rows[] = {
		{ cpu, t->start_ns + 1 * MS, trainer, loader, PROFBPF__SWITCHES__STATE__SLEEP, 202, both, 0 },
		{ cpu, t->data_ns, loader, trainer, PROFBPF__SWITCHES__STATE__SLEEP, 202, both, 0 },
		{ cpu, t->launch_ns + 1 * MS, trainer, 0, PROFBPF__SWITCHES__STATE__SLEEP, 16,
		  PROFBPF__SWITCHES__FLAG__PREV_TARGET, 0 },
		{ cpu, t->done_ns, 0, trainer, PROFBPF__SWITCHES__STATE__PREEMPTED, -1,
		  PROFBPF__SWITCHES__FLAG__NEXT_TARGET, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		trace_switch(b, &rows[i]);
}

static void add_wakes(struct trace_builder *b, uint32_t cpu, const struct turn *t)
{
	trace_wake(b, &(struct trace_wake_row){ cpu, t->start_ns + 900 * US, JOB + cpu, LOADERS + cpu, cpu, 0, NULL });
	trace_wake(b, &(struct trace_wake_row){ cpu, t->data_ns - 10 * US, LOADERS + cpu, JOB + cpu, cpu, 0, NULL });
	trace_wake(b, &(struct trace_wake_row){ cpu, t->done_ns - 5 * US, 0, JOB + cpu, cpu, 0, NULL });
}

static void add_calls(struct trace_builder *b, uint32_t cpu, const struct turn *t)
{
	add_call(b, cpu, FETCH, t->start_ns + 500 * US, t->data_ns + 100 * US, NULL);
	add_call(b, cpu, LAUNCH, t->launch_ns, t->launch_ns + 20 * US, t->kernel);
	add_call(b, cpu, SYNC, t->launch_ns + 500 * US, t->done_ns + 50 * US, NULL);
}

static void add_task(struct trace_builder *b, uint32_t cpu, const struct turn *t)
{
	trace_device_task(b, &(struct trace_device_task_row){ .device = 1,
							      .queued_ns = t->launch_ns + 10 * US,
							      .start_ns = t->launch_ns + 30 * US,
							      .end_ns = t->done_ns - 20 * US,
							      .stream = cpu,
							      .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL,
							      .name = t->kernel,
							      .tid = JOB + cpu,
							      .enqueue_ns = t->launch_ns + 5 * US });
}

/* Adds batches of one kind and CPU, as the daemon writes them. */
static void add_turns(struct trace_builder *b, uint32_t cpu, uint64_t start_ns)
{
	struct turn turns[TURNS];

	for (uint64_t i = 0; i < TURNS; i++)
		make_turn(&turns[i], start_ns + i * (SECOND / TURNS));
	for (uint64_t i = 0; i < TURNS; i++)
		add_switches(b, cpu, &turns[i]);
	for (uint64_t i = 0; i < TURNS; i++)
		add_wakes(b, cpu, &turns[i]);
	for (uint64_t i = 0; i < TURNS; i++)
		add_calls(b, cpu, &turns[i]);
	for (uint64_t i = 0; i < TURNS && cpus % 2; i++)
		add_task(b, cpu, &turns[i]);
}

int main(int argc, char **argv)
{
	struct trace_builder *b = trace_builder_new();
	uint64_t turns;

	if (argc > 2)
		seconds = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		cpus = (uint32_t)strtoul(argv[3], NULL, 10);
	if (argc < 2 || argc > 4 || !seconds || seconds > 86400 || !cpus || cpus > CPUS_MAX) {
		fprintf(stderr, "usage: make_hour FILE [SECONDS [CPUS]]\n");
		return 2;
	}
	add_head(b);
	for (uint64_t second = 0; second < seconds; second++) {
		add_figures(b, second);
		for (uint32_t cpu = 0; cpu < cpus; cpu++)
			add_turns(b, cpu, START + second * SECOND);
	}
	add_figures(b, seconds);
	turns = seconds * cpus * TURNS;
	trace_source(b, "api", turns * 3, turns * 3, NULL, 0);
	trace_source(b, "sched", turns * 7, turns * 7, NULL, 0);
	trace_statistics(b, START + seconds * SECOND, true, "duration");
	trace_write(b, argv[1]);
	trace_builder_free(b);
	return 0;
}
