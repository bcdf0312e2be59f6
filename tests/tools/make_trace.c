/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_trace - writes a trace with completely known content, of any length.
 *
 *	make_trace FILE [PERIODS [host]]
 *
 * With "host" the trace has no records of the device.
 *
 * Four CPUs, each with two threads a and b of process 5000 that take turns, and one
 * "device" with two streams. Events on a CPU in each period of 100 us, in us:
 *
 *	1 a is woken by a timer | 2 a runs | 30 preempted by thread 6000 | 40 a runs |
 *	50 a wakes b | 60 a sleeps, b runs | 90 b sleeps, the CPU is idle
 *	a: cudaLaunchKernel 5..15, in it cuLaunchKernel 6..12, in it an ioctl 7..9;
 *	   cudaMemcpyAsync 42..48
 *	b: cudaStreamSynchronize 61..88, which fails every tenth time
 *	device: a kernel 20..70, every third time 20..130; a copy 50..95
 *
 * Also: a call that is open at the end; a thread id used by two processes; names that
 * are no UTF-8 or need escaping; a clock that is 7 hours off; 7 lost records.
 *
 * Prints the content of a correct export, as shell assignments.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/trace_builder.h"

#define CPUS 4
#define US 1000ull
#define PERIOD (100 * US)
#define START 1000000000000ull
#define BOOT_OFFSET (7 * 3600 * 1000000000ull)
#define RAW_OFFSET 123456789ull
#define CHUNK 1000 /* periods per batch */
#define PID 5000u
#define THIEF 6000u
#define REUSED 5999u

enum { LAUNCH = 1, LAUNCH_INNER, COPY, SYNC };

static bool host_only;

static uint64_t end_of(uint64_t periods)
{
	return START + (periods + 10) * PERIOD;
}

static uint32_t thread_a(uint32_t cpu)
{
	return PID + cpu;
}

static uint32_t thread_b(uint32_t cpu)
{
	return PID + CPUS + cpu;
}

static void add_head(struct trace_builder *b, uint64_t periods)
{
	static const uint32_t targets[] = { PID };
	static const uint64_t realtime_ns = 1760000000000000000;

	trace_segment(b, &(struct trace_segment){ .start_ns = START,
						  .start_realtime_ns = realtime_ns,
						  .cpus = CPUS,
						  .targets = targets,
						  .target_count = 1 });
	for (uint64_t ns = START; ns <= end_of(periods) + 1000000000; ns += 1000000000)
		trace_clock(b, &(struct trace_clock){ .monotonic_ns = ns,
						      .monotonic_raw_ns = ns + RAW_OFFSET,
						      .boottime_ns = ns + BOOT_OFFSET +
								     (ns / 1000000000) % 50,
						      .realtime_ns = realtime_ns + ns - START });
}

static void add_threads(struct trace_builder *b, uint64_t periods)
{
	const uint64_t exit_ns = START + periods / 4 * PERIOD, fork_ns = exit_ns + 10 * PERIOD;
	struct trace_task_row row = { .ts_ns = START,
				      .tgid = PID,
				      .start_ns = START - 1000000000,
				      .cmdline = "/usr/bin/job --name \"a b\"",
				      .flags = PROFBPF__TASKS__FLAG__TARGET };

	for (uint32_t i = 0; i < 2 * CPUS; i++) {
		row.tid = PID + i;
		row.name = i < CPUS ? "job" : "job-worker\xff\"\\";
		trace_task(b, &row);
	}
	trace_task(b, &(struct trace_task_row){ .ts_ns = START,
						.tid = THIEF,
						.tgid = THIEF,
						.start_ns = 1,
						.name = "thief",
						.cmdline = "thief" });
	row.tid = REUSED;
	row.name = "short-lived";
	trace_task(b, &row);
	row.ts_ns = exit_ns;
	row.event = PROFBPF__TASKS__EVENT__EXIT;
	trace_task(b, &row);
	trace_task(b, &(struct trace_task_row){ .ts_ns = fork_ns,
						.tid = REUSED,
						.tgid = REUSED,
						.parent_tgid = PID,
						.parent_tid = PID,
						.event = PROFBPF__TASKS__EVENT__FORK,
						.start_ns = fork_ns,
						.name = "child",
						.cmdline = "child",
						.flags = PROFBPF__TASKS__FLAG__TARGET });
}

static void add_functions(struct trace_builder *b)
{
	const struct trace_function rows[] = {
		{ .id = LAUNCH,
		  .runtime = "cudart",
		  .name = "cudaLaunchKernel",
		  .kind = PROFBPF__FUNCTION__KIND__LAUNCH,
		  .roles = { PROFBPF__FUNCTION__ROLE__STREAM } },
		{ .id = LAUNCH_INNER,
		  .runtime = "cuda",
		  .name = "cuLaunchKernel",
		  .layer = 1,
		  .kind = PROFBPF__FUNCTION__KIND__LAUNCH },
		{ .id = COPY,
		  .runtime = "cudart",
		  .name = "cudaMemcpyAsync",
		  .kind = PROFBPF__FUNCTION__KIND__COPY,
		  .roles = { PROFBPF__FUNCTION__ROLE__BYTES, PROFBPF__FUNCTION__ROLE__COPY_KIND } },
		{ .id = SYNC,
		  .runtime = "cudart",
		  .name = "cudaStreamSynchronize",
		  .kind = PROFBPF__FUNCTION__KIND__SYNC },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_function row = rows[i];

		row.family = "cuda";
		row.error = PROFBPF__FUNCTION__ERROR__NONZERO;
		trace_function(b, &row);
	}
	trace_driver(b, 195 << 20 | 255, "nvidia", "/dev/nvidiactl");
}

static void add_calls(struct trace_builder *b, uint32_t cpu, uint64_t t, uint64_t period)
{
	struct trace_call_row row = { .cpu = cpu, .tgid = PID, .tid = thread_a(cpu) };

	row.function = LAUNCH_INNER;
	row.start_ns = t + 6 * US;
	row.end_ns = t + 12 * US;
	row.depth = 1;
	trace_call(b, &row);
	row.function = LAUNCH;
	row.start_ns = t + 5 * US;
	row.end_ns = t + 15 * US;
	row.depth = 0;
	row.args[0] = 1;
	trace_call(b, &row);
	row.function = COPY;
	row.start_ns = t + 42 * US;
	row.end_ns = t + 48 * US;
	row.args[0] = 4096 + period % 7;
	row.args[1] = 1;
	trace_call(b, &row);
	row.function = SYNC;
	row.tid = thread_b(cpu);
	row.start_ns = t + 61 * US;
	row.end_ns = t + 88 * US;
	row.ret = period % 10 == 0 ? 700 : 0;
	trace_call(b, &row);
}

static void add_ioctl(struct trace_builder *b, uint32_t cpu, uint64_t t)
{
	trace_ioctl(b, &(struct trace_ioctl_row){ .cpu = cpu,
						  .start_ns = t + 7 * US,
						  .end_ns = t + 9 * US,
						  .tid = thread_a(cpu),
						  .tgid = PID,
						  .cmd = 0xc00846d2,
						  .rdev = 195 << 20 | 255 });
}

static void add_switches(struct trace_builder *b, uint32_t cpu, uint64_t t, uint64_t period)
{
	const uint32_t a = thread_a(cpu), other = thread_b(cpu);
	const bool io = period == 0;
	const struct trace_switch_row rows[] = {
		{ cpu, t + 2 * US, 0, a, PROFBPF__SWITCHES__STATE__PREEMPTED, -1,
		  PROFBPF__SWITCHES__FLAG__NEXT_TARGET },
		{ cpu, t + 30 * US, a, THIEF, PROFBPF__SWITCHES__STATE__PREEMPTED, -1,
		  PROFBPF__SWITCHES__FLAG__PREV_TARGET },
		{ cpu, t + 40 * US, THIEF, a, PROFBPF__SWITCHES__STATE__SLEEP, -1,
		  PROFBPF__SWITCHES__FLAG__NEXT_TARGET },
		{ cpu, t + 60 * US, a, other,
		  io ? PROFBPF__SWITCHES__STATE__DISK_SLEEP : PROFBPF__SWITCHES__STATE__SLEEP, 202,
		  PROFBPF__SWITCHES__FLAG__PREV_TARGET | PROFBPF__SWITCHES__FLAG__NEXT_TARGET |
			  (io ? PROFBPF__SWITCHES__FLAG__IO_WAIT : 0) },
		{ cpu, t + 90 * US, other, 0, PROFBPF__SWITCHES__STATE__SLEEP, 16,
		  PROFBPF__SWITCHES__FLAG__PREV_TARGET },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		trace_switch(b, &rows[i]);
}

static void add_wakes(struct trace_builder *b, uint32_t cpu, uint64_t t)
{
	trace_wake(b, &(struct trace_wake_row){ cpu, t + 1 * US, 0, thread_a(cpu), cpu,
						PROFBPF__WAKES__FLAG__TIMER });
	trace_wake(b, &(struct trace_wake_row){ cpu, t + 50 * US, thread_a(cpu), thread_b(cpu), cpu,
						0 });
}

/* The device's clock is CLOCK_MONOTONIC_RAW. */
static void add_tasks(struct trace_builder *b, uint32_t cpu, uint64_t t, uint64_t period)
{
	struct trace_device_task_row row = { .device = 1,
					     .tid = thread_a(cpu),
					     .enqueue_ns = t + 5500,
					     .stream = 10 + cpu,
					     .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL,
					     .name = "gemm<\"\xc3\x28\\n>" };

	row.queued_ns = t + 5600 + RAW_OFFSET;
	row.start_ns = t + 20 * US + RAW_OFFSET;
	row.end_ns = t + (period % 3 == 0 ? 130 : 70) * US + RAW_OFFSET;
	trace_device_task(b, &row);
	row.enqueue_ns = t + 42500;
	row.queued_ns = t + 42600 + RAW_OFFSET;
	row.stream = 20 + cpu;
	row.kind = PROFBPF__DEVICE_TASKS__KIND__COPY;
	row.name = "HtoD";
	row.bytes = 4096;
	row.start_ns = t + 50 * US + RAW_OFFSET;
	row.end_ns = t + 95 * US + RAW_OFFSET;
	trace_device_task(b, &row);
}

/* Adds batches of one kind and CPU, as the daemon writes them. */
static void add_chunk(struct trace_builder *b, uint64_t first, uint64_t end)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		for (uint64_t i = first; i < end; i++)
			add_calls(b, cpu, START + i * PERIOD, i);
		for (uint64_t i = first; i < end; i++)
			add_ioctl(b, cpu, START + i * PERIOD);
		for (uint64_t i = first; i < end; i++)
			add_switches(b, cpu, START + i * PERIOD, i);
		for (uint64_t i = first; i < end; i++)
			add_wakes(b, cpu, START + i * PERIOD);
		for (uint64_t i = first; i < end && !host_only; i++)
			add_tasks(b, cpu, START + i * PERIOD, i);
	}
}

static void add_odd_calls(struct trace_builder *b, uint64_t periods)
{
	const uint64_t half = START + (periods / 4 + 10) * PERIOD;
	struct trace_call_row row = { .function = SYNC, .tid = REUSED, .tgid = PID };

	row.start_ns = START + 10 * US;
	row.end_ns = START + 20 * US;
	trace_call(b, &row);
	row.tgid = REUSED;
	row.start_ns = half + 10 * US;
	row.end_ns = half + 20 * US;
	trace_call(b, &row);
	row.tid = row.tgid = PID;
	row.start_ns = START + (periods + 1) * PERIOD;
	row.end_ns = end_of(periods);
	row.flags = PROFBPF__CALLS__FLAG__OPEN;
	trace_call(b, &row);
}

static void add_end(struct trace_builder *b, uint64_t periods)
{
	const uint64_t rows = periods * CPUS;

	trace_source(b, "api", rows * 4 + 3, rows * 4 + 3, NULL, 0);
	trace_source(b, "ioctl", rows, rows, NULL, 0);
	trace_source(b, "sched", rows * 7 + 7, rows * 7, "ring full", 7);
	if (!host_only)
		trace_source(b, "device", rows * 2, rows * 2, NULL, 0);
	trace_statistics(b, end_of(periods), true, "duration");
}

static void print_value(const char *name, uint64_t value)
{
	printf("%s=%" PRIu64 "\n", name, value);
}

static void print_expected(uint64_t periods)
{
	const uint64_t rows = periods * CPUS;

	print_value("calls", rows * 4 + 3);
	print_value("ioctls", rows);
	print_value("tasks", host_only ? 0 : rows * 2);
	print_value("flows", host_only ? 0 : rows * 2);
	print_value("errors", (periods + 9) / 10 * CPUS);
	print_value("wakes", rows * 2);
	/* not recorded before the first; idle until a comes, a, thief, a, b, not recorded */
	print_value("sched", rows * 6 + CPUS);
	print_value("unrecorded", rows + CPUS);
	print_value("a_run_ns", periods * 48 * US);
	print_value("b_run_ns", periods * 30 * US);
	print_value("thief_run_ns", rows * 10 * US);
	print_value("idle_ns", rows * US);
	print_value("io_waits", CPUS);
	print_value("call_ns", rows * (10 + 6 + 6 + 27) * US + 20 * US + 9 * PERIOD);
	print_value("task_ns", rows * (50 + 45) * US + (periods + 2) / 3 * CPUS * 60 * US);
	print_value("start_ns", START + BOOT_OFFSET + START / 1000000000 % 50);
	print_value("duration_ns", end_of(periods) - START);
}

int main(int argc, char **argv)
{
	uint64_t periods = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
	struct trace_builder *b = trace_builder_new();

	host_only = argc > 3 && strcmp(argv[3], "host") == 0;
	if (argc < 2 || argc > 3 + host_only || periods < 1 || periods > 10000000) {
		fprintf(stderr, "usage: make_trace FILE [PERIODS [host]]\n");
		return 2;
	}
	add_head(b, periods);
	add_threads(b, periods);
	add_functions(b);
	if (!host_only)
		trace_device(b, &(struct trace_device){ .id = 1,
					     .tgid = PID,
					     .name = "Test \"GPU\"",
					     .clock = PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW });
	for (uint64_t first = 0; first < periods; first += CHUNK)
		add_chunk(b, first, first + CHUNK < periods ? first + CHUNK : periods);
	add_odd_calls(b, periods);
	add_end(b, periods);
	trace_write(b, argv[1]);
	trace_builder_free(b);
	print_expected(periods);
	return 0;
}
