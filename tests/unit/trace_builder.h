/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_builder.h - builds small .pbt traces for unit tests.
 *
 * The caller adds rows one by one; consecutive rows of one kind and CPU become one batch. The builder encodes them
 * with lib/pbt as the daemon does. Instants and ids are written as given, without checks, so that tests can build
 * nonsense. Batches have no shapes, as in format 1, which stays readable (test_shapes.c reads batches with shapes).
 * Running out of memory or failing to encode aborts the test.
 */
#ifndef PROFBPF_TESTS_UNIT_TRACE_BUILDER_H
#define PROFBPF_TESTS_UNIT_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/trace.pb-c.h"

struct trace_builder;

struct trace_builder *trace_builder_new(void);
void trace_builder_free(struct trace_builder *builder);

/* Returns the trace so far, owned by the builder, valid until the next row. */
const uint8_t *trace_bytes(struct trace_builder *builder, size_t *size);

/* Writes the trace to @path; aborts on failure. */
void trace_write(struct trace_builder *builder, const char *path);

/* Returns the end offsets of the packets written so far, for truncating and damaging. */
size_t trace_packet_ends(struct trace_builder *builder, const size_t **ends);

/* Begins a segment: discards the strings, as the format requires. */
struct trace_segment {
	uint32_t format; /* 0: PBT_FORMAT */
	uint32_t index;
	uint8_t session; /* first byte of the session's uuid */
	uint8_t boot; /* first byte of the boot id */
	const char *hostname; /* NULL: "testhost" */
	const char *arch; /* NULL: "x86_64" */
	uint32_t cpus; /* 0: 2 */
	uint64_t start_ns;
	uint64_t start_realtime_ns;
	const uint32_t *targets;
	size_t target_count;
	bool system_wide;
	const char *note; /* or NULL */
	bool old_probe_cost; /* the single figure of traces without classes: 250; otherwise see below */
};
/*
 * The cost of probes on nop5, the kind that trace_function() states for all functions: 200 ns of the call and 500 ns
 * of its caller's time, 40 ns more in both for a string.
 */
void trace_segment(struct trace_builder *builder, const struct trace_segment *segment);

/* Appends any message, already packed by the caller: for hostile packets. */
void trace_packet(struct trace_builder *builder, Profbpf__Packet__Kind kind, const void *body,
		  size_t size);

struct trace_clock {
	uint64_t monotonic_ns;
	uint64_t monotonic_raw_ns;
	uint64_t boottime_ns;
	uint64_t realtime_ns;
	uint64_t counter;
};
void trace_clock(struct trace_builder *builder, const struct trace_clock *clock);

struct trace_task_row {
	uint64_t ts_ns;
	uint32_t tid;
	uint32_t tgid;
	uint32_t parent_tgid;
	uint32_t parent_tid;
	Profbpf__Tasks__Event event;
	uint32_t exit_code;
	uint64_t start_ns;
	const char *name;
	const char *cmdline; /* NULL: unknown */
	const char *exe;
	uint32_t flags; /* Tasks.Flag */
};
void trace_task(struct trace_builder *builder, const struct trace_task_row *row);

/* Short form: thread @tid of process @tgid, a target, first seen at @ts_ns, started at @ts_ns - 1 s. */
void trace_target(struct trace_builder *builder, uint64_t ts_ns, uint32_t tgid, uint32_t tid,
		  const char *name);

struct trace_function {
	uint32_t id;
	const char *runtime;
	const char *family; /* NULL: the runtime */
	const char *name;
	Profbpf__Function__Kind kind;
	uint32_t layer;
	Profbpf__Function__Error error;
	Profbpf__Function__Role roles[3];
	const char *file; /* NULL: "/usr/lib/lib<runtime>.so" */
};
void trace_function(struct trace_builder *builder, const struct trace_function *function);

struct trace_call_row {
	uint32_t cpu;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t tid;
	uint32_t tgid;
	uint32_t function;
	uint32_t flags; /* as Calls.flags; the bits for depth and text are added */
	uint32_t depth;
	uint32_t ret;
	uint64_t args[3];
	const char *text; /* string argument or NULL */
};
void trace_call(struct trace_builder *builder, const struct trace_call_row *row);

struct trace_ioctl_row {
	uint32_t cpu;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t tid;
	uint32_t tgid;
	uint32_t cmd;
	uint32_t rdev;
	int32_t ret;
	uint32_t flags;
};
void trace_ioctl(struct trace_builder *builder, const struct trace_ioctl_row *row);
void trace_driver(struct trace_builder *builder, uint32_t rdev, const char *driver,
		  const char *device);

struct trace_switch_row {
	uint32_t cpu;
	uint64_t ts_ns;
	uint32_t prev_tid;
	uint32_t next_tid;
	uint32_t state; /* Switches.State */
	int32_t syscall; /* -1: none */
	uint32_t flags; /* Switches.Flag */
	uint32_t object; /* id of SleepObjects */
	uint32_t refill_ns; /* with THROTTLED */
};
void trace_switch(struct trace_builder *builder, const struct trace_switch_row *row);

struct trace_wake_row {
	uint32_t cpu;
	uint64_t ts_ns;
	uint32_t waker_tid;
	uint32_t tid;
	uint32_t target_cpu;
	uint32_t flags; /* Wakes.Flag */
	const char *interrupt; /* or NULL */
};
void trace_wake(struct trace_builder *builder, const struct trace_wake_row *row);

struct trace_account_row {
	uint64_t ts_ns;
	uint32_t tid;
	uint32_t tgid;
	uint32_t flags; /* Accounts.Flag */
	uint64_t run_ns;
	uint64_t runnable_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t migrations;
	uint64_t minor_faults;
	uint64_t major_faults;
};
void trace_account(struct trace_builder *builder, const struct trace_account_row *row);

/* One CPU of a /proc/stat snapshot. */
struct trace_cpu_row {
	uint32_t cpu;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t irq_ns;
	uint64_t softirq_ns;
	uint64_t iowait_ns;
	uint64_t idle_ns;
	uint64_t steal_ns;
};
struct trace_host_row {
	uint64_t ts_ns;
	uint64_t context_switches;
	uint64_t forks;
	uint32_t runnable;
	uint32_t blocked;
};
void trace_cpu_stats(struct trace_builder *builder, const struct trace_host_row *host,
		     const struct trace_cpu_row *cpus, size_t count);

struct trace_device {
	uint32_t id;
	uint32_t tgid;
	const char *name;
	const char *kind; /* NULL: "gpu" */
	const char *source; /* NULL: "opencl-layer" */
	Profbpf__DeviceClock clock;
};
void trace_device(struct trace_builder *builder, const struct trace_device *device);

struct trace_device_task_row {
	uint32_t device;
	uint64_t queued_ns;
	uint64_t submit_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t stream;
	Profbpf__DeviceTasks__Kind kind;
	const char *name;
	uint32_t tid;
	uint64_t enqueue_ns;
	uint64_t enqueue_dur_ns;
	uint64_t bytes;
	int32_t status;
	uint64_t correlation;
};
void trace_device_task(struct trace_builder *builder, const struct trace_device_task_row *row);

void trace_coverage(struct trace_builder *builder, uint32_t tgid, const char *file,
		    uint64_t mapped_ns, uint64_t probed_ns, uint32_t functions);

/* The state of the coverage of a file when the daemon examined the process at @looked_ns. */
void trace_looked(struct trace_builder *builder, uint32_t tgid, const char *file, uint64_t looked_ns,
		  uint32_t functions, Profbpf__Coverage__State state);

/* Records whether the ends of @function's calls are seen from @ts_ns on, because of @rate calls per second. */
void trace_ends(struct trace_builder *builder, uint32_t function, uint64_t ts_ns, uint32_t seen,
		uint32_t rate);

/* One source of the next trace_statistics(); @reason is NULL if nothing was lost. */
void trace_source(struct trace_builder *builder, const char *name, uint64_t produced,
		  uint64_t delivered, const char *reason, uint64_t lost);
void trace_short_calls(struct trace_builder *builder, uint32_t function, uint32_t tgid,
		       uint64_t count, uint64_t total_ns);
/* @count of the short calls added last have no duration. */
void trace_unended_calls(struct trace_builder *builder, uint64_t count);
void trace_statistics(struct trace_builder *builder, uint64_t ts_ns, bool final,
		      const char *end_reason);

#endif /* PROFBPF_TESTS_UNIT_TRACE_BUILDER_H */
