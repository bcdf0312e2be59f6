/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/sample_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/load/load_pbt.h"

/* Exact to the microsecond. */
#define AT(ms) (SAMPLE_START + (uint64_t)((ms)*1000 + 0.5) * US)

static void identities(struct trace_builder *b)
{
	const struct trace_task_row rows[] = {
		{ .ts_ns = SAMPLE_START,
		  .tid = 100,
		  .tgid = 100,
		  .parent_tgid = 1,
		  .start_ns = 5000000000,
		  .name = "main",
		  .cmdline = "job --fast",
		  .exe = "/bin/job",
		  .flags = PROFBPF__TASKS__FLAG__TARGET },
		{ .ts_ns = SAMPLE_START,
		  .tid = 200,
		  .tgid = 200,
		  .start_ns = 6000000000,
		  .name = "thief",
		  .cmdline = "thief" },
		{ .ts_ns = AT(50),
		  .tid = 101,
		  .tgid = 100,
		  .parent_tgid = 100,
		  .parent_tid = 100,
		  .event = PROFBPF__TASKS__EVENT__FORK,
		  .start_ns = AT(49.99),
		  .name = "main",
		  .flags = PROFBPF__TASKS__FLAG__TARGET },
		{ .ts_ns = AT(51),
		  .tid = 101,
		  .tgid = 100,
		  .event = PROFBPF__TASKS__EVENT__RENAME,
		  .start_ns = AT(49.99),
		  .name = "worker",
		  .flags = PROFBPF__TASKS__FLAG__TARGET },
		{ .ts_ns = AT(1599.9),
		  .tid = 101,
		  .tgid = 100,
		  .event = PROFBPF__TASKS__EVENT__EXIT,
		  .start_ns = AT(49.99),
		  .name = "worker",
		  .flags = PROFBPF__TASKS__FLAG__TARGET },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		trace_task(b, &rows[i]);
}

static void functions(struct trace_builder *b)
{
	const struct trace_function rows[] = {
		{ .id = SAMPLE_ENQUEUE,
		  .runtime = "opencl",
		  .name = "clEnqueueNDRangeKernel",
		  .kind = PROFBPF__FUNCTION__KIND__LAUNCH,
		  .error = PROFBPF__FUNCTION__ERROR__NONZERO },
		{ .id = SAMPLE_FINISH,
		  .runtime = "opencl",
		  .name = "clFinish",
		  .kind = PROFBPF__FUNCTION__KIND__SYNC,
		  .error = PROFBPF__FUNCTION__ERROR__NONZERO },
		{ .id = SAMPLE_CUDA,
		  .runtime = "cudart",
		  .family = "cuda",
		  .name = "cudaLaunchKernel",
		  .kind = PROFBPF__FUNCTION__KIND__LAUNCH,
		  .error = PROFBPF__FUNCTION__ERROR__NONZERO },
		{ .id = SAMPLE_CU,
		  .runtime = "cuda",
		  .family = "cuda",
		  .name = "cuLaunchKernel",
		  .layer = 1,
		  .kind = PROFBPF__FUNCTION__KIND__LAUNCH,
		  .error = PROFBPF__FUNCTION__ERROR__NONZERO },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		trace_function(b, &rows[i]);
}

static void calls(struct trace_builder *b)
{
	for (uint64_t i = 0; i < 100; i++) {
		struct trace_call_row row = { .tid = 100, .tgid = 100, .function = SAMPLE_ENQUEUE };

		row.start_ns = AT(310 + i);
		row.end_ns = row.start_ns + (i + 1) * US;
		row.args[0] = 0x1000 + i;
		row.text = "kernel";
		row.ret = i < 3 ? (uint32_t)-30 : 0;
		trace_call(b, &row);
	}
	for (uint64_t i = 0; i < 5; i++) {
		struct trace_call_row inner = {
			.cpu = 1, .tid = 101, .tgid = 100, .function = SAMPLE_CU, .depth = 1
		};
		struct trace_call_row outer = {
			.cpu = 1, .tid = 101, .tgid = 100, .function = SAMPLE_CUDA
		};

		outer.start_ns = AT(500 + i);
		outer.end_ns = outer.start_ns + 20 * US;
		inner.start_ns = outer.start_ns + 5 * US;
		inner.end_ns = inner.start_ns + 10 * US;
		trace_call(b, &inner);
		trace_call(b, &outer);
	}
	trace_call(b, &(struct trace_call_row){ .tid = 100,
						.tgid = 100,
						.start_ns = AT(900),
						.end_ns = AT(910),
						.function = SAMPLE_FINISH });
	trace_call(b, &(struct trace_call_row){ .tid = 100,
						.tgid = 100,
						.start_ns = AT(1900),
						.end_ns = SAMPLE_END,
						.function = SAMPLE_FINISH,
						.flags = PROFBPF__CALLS__FLAG__OPEN });
}

static void ioctls(struct trace_builder *b)
{
	trace_driver(b, 226 << 20 | 128, "drm", "/dev/dri/renderD128");
	for (uint64_t i = 0; i < 4; i++) {
		struct trace_ioctl_row row = {
			.tid = 100, .tgid = 100, .cmd = 0xc0106442, .rdev = 226 << 20 | 128
		};

		row.start_ns = AT(1000 + i);
		row.end_ns = row.start_ns + (i + 1) * 100 * US;
		row.ret = i == 3 ? -16 : 0;
		trace_ioctl(b, &row);
	}
}

static void switches(struct trace_builder *b)
{
	const struct trace_switch_row rows[] = {
		{ 0, AT(100), 100, 0, PROFBPF__SWITCHES__STATE__SLEEP, 202,
		  PROFBPF__SWITCHES__FLAG__PREV_TARGET },
		{ 0, AT(301), 200, 100, PROFBPF__SWITCHES__STATE__SLEEP, -1,
		  PROFBPF__SWITCHES__FLAG__NEXT_TARGET },
		{ 0, AT(500), 100, 200, PROFBPF__SWITCHES__STATE__PREEMPTED, -1,
		  PROFBPF__SWITCHES__FLAG__PREV_TARGET },
		{ 0, AT(600), 200, 100, PROFBPF__SWITCHES__STATE__PREEMPTED, -1,
		  PROFBPF__SWITCHES__FLAG__NEXT_TARGET },
		{ 0, AT(700), 100, 0, PROFBPF__SWITCHES__STATE__DISK_SLEEP, 0,
		  PROFBPF__SWITCHES__FLAG__PREV_TARGET | PROFBPF__SWITCHES__FLAG__IO_WAIT },
		{ 0, AT(800.5), 0, 100, PROFBPF__SWITCHES__STATE__PREEMPTED, -1,
		  PROFBPF__SWITCHES__FLAG__NEXT_TARGET },
		{ 1, AT(50.02), 0, 101, PROFBPF__SWITCHES__STATE__PREEMPTED, -1,
		  PROFBPF__SWITCHES__FLAG__NEXT_TARGET },
		{ 1, AT(1000), 101, 0, PROFBPF__SWITCHES__STATE__SLEEP, 230,
		  PROFBPF__SWITCHES__FLAG__PREV_TARGET },
		{ 1, AT(1500), 0, 101, PROFBPF__SWITCHES__STATE__PREEMPTED, -1,
		  PROFBPF__SWITCHES__FLAG__NEXT_TARGET },
		{ 1, AT(1600), 101, 0, PROFBPF__SWITCHES__STATE__DEAD, -1,
		  PROFBPF__SWITCHES__FLAG__PREV_TARGET },
	};
	const struct trace_wake_row wakes[] = {
		{ 0, AT(50.01), 100, 101, 1, PROFBPF__WAKES__FLAG__NEW_THREAD },
		{ 1, AT(300), 101, 100, 0, 0 },
		{ 0, AT(800), 0, 100, 0, PROFBPF__WAKES__FLAG__SOFTIRQ },
		{ 1, AT(1500), 0, 101, 1, PROFBPF__WAKES__FLAG__TIMER },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		trace_switch(b, &rows[i]);
	for (size_t i = 0; i < sizeof(wakes) / sizeof(wakes[0]); i++)
		trace_wake(b, &wakes[i]);
}

/* The kernel's accounts of threads; those of the targets agree with the switches. */
static void accounts(struct trace_builder *b)
{
	const struct trace_account_row rows[] = {
		{ .ts_ns = AT(1),
		  .tid = 100,
		  .tgid = 100,
		  .flags = PROFBPF__ACCOUNTS__FLAG__FIRST | PROFBPF__ACCOUNTS__FLAG__RUNNING |
			   PROFBPF__ACCOUNTS__FLAG__TARGET,
		  .run_ns = 700 * MS,
		  .user_ns = 500 * MS,
		  .system_ns = 100 * MS,
		  .voluntary = 10,
		  .involuntary = 20,
		  .migrations = 3 },
		{ .ts_ns = AT(1),
		  .tid = 200,
		  .tgid = 200,
		  .flags = PROFBPF__ACCOUNTS__FLAG__FIRST,
		  .run_ns = 1000 * MS,
		  .runnable_ns = 50 * MS,
		  .voluntary = 1 },
		{ .ts_ns = AT(1001),
		  .tid = 200,
		  .tgid = 200,
		  .run_ns = 1400 * MS,
		  .runnable_ns = 60 * MS,
		  .voluntary = 6,
		  .involuntary = 2,
		  .migrations = 1 },
		{ .ts_ns = AT(1600.01),
		  .tid = 101,
		  .tgid = 100,
		  .flags = PROFBPF__ACCOUNTS__FLAG__FINAL | PROFBPF__ACCOUNTS__FLAG__TARGET,
		  .run_ns = 1049980 * US,
		  .runnable_ns = 10 * US,
		  .user_ns = 1000 * MS,
		  .voluntary = 2,
		  .migrations = 1 },
		{ .ts_ns = SAMPLE_END,
		  .tid = 100,
		  .tgid = 100,
		  .flags = PROFBPF__ACCOUNTS__FLAG__TARGET,
		  .run_ns = 700 * MS + 1598500 * US,
		  .runnable_ns = 101500 * US,
		  .user_ns = 1500 * MS,
		  .system_ns = 600 * MS,
		  .voluntary = 12,
		  .involuntary = 21,
		  .migrations = 5 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		trace_account(b, &rows[i]);
}

/* CPU 0 is busy 80 %, CPU 1 60 %. */
static void cpu_stats(struct trace_builder *b)
{
	for (uint64_t i = 0; i <= 2; i++) {
		const struct trace_host_row host = { .ts_ns = SAMPLE_START + i * 1000 * MS,
						     .context_switches = 5000 + 1000 * i,
						     .forks = 70 + i,
						     .runnable = 2 };
		const struct trace_cpu_row cpus[] = {
			{ .cpu = 0,
			  .user_ns = 90000 * MS + i * 700 * MS,
			  .system_ns = i * 100 * MS,
			  .iowait_ns = i * 50 * MS,
			  .idle_ns = i * 150 * MS },
			{ .cpu = 1,
			  .user_ns = i * 500 * MS,
			  .system_ns = i * 60 * MS,
			  .irq_ns = i * 10 * MS,
			  .softirq_ns = i * 30 * MS,
			  .idle_ns = i * 400 * MS },
		};

		trace_cpu_stats(b, &host, cpus, 2);
	}
}

static void clocks(struct trace_builder *b)
{
	for (uint64_t i = 0; i <= 2; i++)
		trace_clock(b, &(struct trace_clock){
				       .monotonic_ns = SAMPLE_START + i * 1000 * MS,
				       .monotonic_raw_ns = SAMPLE_START + i * 1000 * MS + 500,
				       .boottime_ns = SAMPLE_START + i * 1000 * MS,
				       .realtime_ns = 1700000000000000000ull + i * 1000 * MS,
				       .counter = 5000000000ull + i * 2000000000ull });
}

static void statistics(struct trace_builder *b, unsigned int how)
{
	bool lost = how & SAMPLE_SCHED_LOST;

	trace_source(b, "api", 112, 112, NULL, 0);
	trace_source(b, "ioctl", 4, 4, NULL, 0);
	trace_source(b, "sched", lost ? 21 : 14, 14, lost ? "ring full" : NULL, 7);
	trace_statistics(b, SAMPLE_END, !(how & SAMPLE_UNFINISHED), "duration");
}

struct trace_builder *sample_trace(unsigned int how)
{
	static const uint32_t targets[] = { 100 };
	struct trace_builder *b = trace_builder_new();

	trace_segment(b, &(struct trace_segment){ .start_ns = SAMPLE_START,
						  .start_realtime_ns = 1700000000000000000ull,
						  .targets = targets,
						  .target_count = 1,
						  .session = 1,
						  .boot = 1 });
	clocks(b);
	identities(b);
	functions(b);
	trace_coverage(b, 100, "/usr/lib/libopencl.so", 0, SAMPLE_START, 2);
	trace_coverage(b, 100, "/usr/lib/libcudart.so", AT(480), AT(482.5), 2);
	calls(b);
	ioctls(b);
	switches(b);
	accounts(b);
	cpu_stats(b);
	statistics(b, how);
	return b;
}

struct model *load_bytes(const uint8_t *bytes, size_t size, char *error, size_t error_size)
{
	char path[] = "/tmp/profbpf-test-XXXXXX";
	struct model *model = model_new();
	struct loader *loader = loader_new(model);
	int fd = mkstemp(path), err;

	if (!model || !loader || fd < 0 || write(fd, bytes, size) != (ssize_t)size) {
		perror(path);
		abort();
	}
	close(fd);
	err = load_pbt(loader, path, error, error_size);
	if (!err)
		err = load_finish(loader, error, error_size);
	loader_free(loader);
	unlink(path);
	if (!err)
		return model;
	model_free(model);
	return NULL;
}

struct model *load_trace(struct trace_builder *builder)
{
	char error[512] = "";
	size_t size;
	const uint8_t *bytes = trace_bytes(builder, &size);
	struct model *model = load_bytes(bytes, size, error, sizeof(error));

	if (!model) {
		fprintf(stderr, "cannot load a built trace: %s\n", error);
		abort();
	}
	trace_builder_free(builder);
	return model;
}
