/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - everything known about one or several traces, in columns.
 *
 * Loaders fill the model, the join completes it, analyses read it, writers read
 * it and the analyses' results. Nothing here knows which file the data came
 * from. All instants are CLOCK_MONOTONIC nanoseconds of the traced host, also
 * those of device tasks once the clock join has run; all durations nanoseconds.
 *
 * Rows refer to each other by index, never by pointer, because the arrays grow.
 * INDEX_NONE stands for "none" or "unknown". Strings are ids of model.strings.
 */
#ifndef PROFBPF_ANALYZER_MODEL_H
#define PROFBPF_ANALYZER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/clocks.h"
#include "lib/pbt.h"
#include "lib/strings.h"
#include "proto/trace.pb-c.h"

#define INDEX_NONE UINT32_MAX

/* One thread during one life: a reused tid makes a new row. */
struct thread {
	uint32_t tid;
	uint32_t process; /* index into processes */
	uint32_t name; /* last known name */
	bool target;
	bool kernel;
	uint64_t start_ns; /* the kernel's start time of the task, 0 = unknown */
	uint64_t first_ns; /* first and last instant at which the trace knows it alive */
	uint64_t last_ns;
	uint64_t exit_ns; /* 0 = did not exit during the trace */
	uint64_t dropped_ns; /* since when it is no target any more; 0 = it stayed what it was */
	uint32_t parent; /* thread that forked it, or INDEX_NONE */
};

struct process {
	uint32_t pid;
	uint32_t parent_pid; /* 0 = unknown */
	uint32_t name; /* name of the main thread, else of the first seen */
	uint32_t cmdline; /* 0 = unknown */
	uint32_t exe;
	bool target;
	bool kernel;
	uint64_t start_ns;
	uint64_t exit_ns;
	uint32_t exit_code;
};

struct function {
	uint32_t runtime;
	uint32_t family;
	uint32_t name; /* C++ names are demangled, without parameters */
	uint32_t symbol; /* as in the file's symbol table */
	uint32_t file;
	uint32_t instruction; /* "nop5", "emulated", "stepped" */
	uint8_t kind; /* Profbpf__Function__Kind */
	uint8_t layer;
	uint8_t error; /* Profbpf__Function__Error */
	uint8_t roles[3]; /* Profbpf__Function__Role of args[0..2] */
};

/* flags of calls */
#define MODEL_CALL_OPEN 0x01 /* had not returned when the thread or the session ended */
#define MODEL_CALL_ERROR 0x02 /* returned an error by the function's convention */
#define MODEL_CALL_INNER 0x04 /* inside a call of the same family: not in totals */

struct call {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t thread;
	uint32_t function;
	uint32_t ret;
	uint32_t text; /* string argument, 0 = none */
	uint64_t args[3];
	uint32_t task; /* device task that it launched (the first, if several) or INDEX_NONE */
	uint8_t flags;
	uint8_t depth;
};

struct ioctl_call {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t thread;
	uint32_t driver; /* index into drivers */
	uint32_t cmd;
	int32_t ret;
	uint8_t flags; /* MODEL_CALL_OPEN */
};

struct driver {
	uint32_t rdev;
	uint32_t driver; /* string: driver name */
	uint32_t device; /* string: device node */
};

struct cpu_switch {
	uint64_t ts_ns;
	uint32_t prev_tid;
	uint32_t next_tid;
	uint32_t prev_thread; /* index into threads or INDEX_NONE (idle) */
	uint32_t next_thread;
	uint16_t cpu;
	int16_t syscall; /* -1 = none */
	uint8_t state; /* enum switch_state of bpf/events.h */
	uint8_t flags; /* SWITCH_* of bpf/events.h */
};

struct wake {
	uint64_t ts_ns;
	uint32_t waker_tid;
	uint32_t waker_thread; /* INDEX_NONE = idle or unknown */
	uint32_t thread;
	uint16_t cpu;
	uint16_t target_cpu;
	uint8_t flags; /* WAKE_* of bpf/events.h */
};

/* The kernel's cumulative figures of a thread at an instant. */
struct account {
	uint64_t ts_ns;
	uint32_t thread;
	uint32_t flags; /* ACCOUNT_* of bpf/events.h */
	uint64_t run_ns;
	uint64_t runnable_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t migrations;
	uint64_t minor_faults;
	uint64_t major_faults;
	int16_t syscall; /* asleep at a session's start: the system call it slept in, -1 = none */
};

/* /proc/stat of one CPU at an instant, cumulative. */
struct cpu_stat {
	uint64_t ts_ns;
	uint32_t cpu;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t irq_ns;
	uint64_t softirq_ns;
	uint64_t iowait_ns;
	uint64_t idle_ns;
	uint64_t steal_ns;
};

struct host_stat {
	uint64_t ts_ns;
	uint64_t context_switches;
	uint64_t forks;
	uint32_t runnable;
	uint32_t blocked;
};

struct device {
	uint32_t id; /* as in the file */
	uint32_t process; /* whose runtime reported it, or INDEX_NONE */
	uint32_t name;
	uint32_t kind; /* "cpu", "gpu", ... */
	uint32_t source; /* "opencl-layer", ... */
	uint8_t clock; /* Profbpf__DeviceClock */
};

/* flags of device tasks */
#define MODEL_TASK_UNTIMED 0x01 /* start or end not reported: in no busy time */

struct device_task {
	uint64_t queued_ns; /* device clock until the clock join, CLOCK_MONOTONIC after it */
	uint64_t submit_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t enqueue_ns; /* CLOCK_MONOTONIC always; 0 = unknown */
	uint64_t enqueue_dur_ns;
	uint64_t stream;
	uint64_t bytes;
	uint64_t correlation;
	uint32_t device; /* index into devices */
	uint32_t thread; /* enqueuing thread or INDEX_NONE */
	uint32_t name;
	uint32_t call; /* launching call or INDEX_NONE (set by the launch join) */
	int32_t status;
	uint8_t kind; /* Profbpf__DeviceTasks__Kind */
	uint8_t flags;
};

enum thread_state {
	STATE_UNKNOWN = 0, /* not seen, or records were lost */
	STATE_RUNNING,
	STATE_RUNNABLE,
	STATE_SLEEP, /* interruptible */
	STATE_DISK, /* uninterruptible */
	STATE_STOPPED,
};

/* What a thread did between two instants; a thread's spans follow each other without holes. */
struct span {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t other; /* running: INDEX_NONE; runnable: thread that ran on that CPU instead
				 * (or the last one before it got the CPU); asleep: who woke it */
	int16_t syscall; /* asleep: the system call it slept in, -1 none */
	uint16_t cpu; /* running, runnable */
	uint8_t state; /* enum thread_state */
	uint8_t flags; /* asleep: SWITCH_IOWAIT, SWITCH_FAULT; how woken: SPAN_WOKEN_* */
};

#define SPAN_CPU_IDLE 0x01 /* runnable: nothing ran on that CPU, it was being woken up */
#define SPAN_WOKEN_HARDIRQ 0x10
#define SPAN_WOKEN_SOFTIRQ 0x20
#define SPAN_WOKEN_TIMER 0x40 /* a sleep or a timeout ended */
#define SPAN_NO_WAKE 0x80 /* the wake-up was not recorded */

/* spans[first .. first + count) of one thread, in time order. */
struct timeline {
	uint32_t first;
	uint32_t count;
};

struct coverage {
	uint32_t process;
	uint32_t file;
	uint64_t mapped_ns; /* 0 = before the session */
	uint64_t probed_ns;
	uint64_t session_start_ns; /* of the session it belongs to */
	uint32_t functions;
};

struct loss_reason {
	uint32_t reason; /* string */
	uint64_t count;
};

struct source_loss {
	uint32_t name;
	uint64_t produced;
	uint64_t delivered; /* as the daemon counted */
	uint64_t read; /* as found in the file; UINT64_MAX = not comparable */
	struct loss_reason reasons[8];
	uint32_t reason_count;
};

struct short_calls {
	uint32_t function;
	uint32_t process;
	uint64_t count;
	uint64_t total_ns;
};

struct trace_info {
	uint32_t hostname;
	uint32_t kernel;
	uint32_t arch;
	uint32_t producer;
	uint32_t cpus;
	uint64_t start_ns; /* window of every analysis: the session, or the part of it that */
	uint64_t end_ns; /* the user asked for */
	uint64_t session_start_ns;
	uint64_t session_end_ns; /* last instant known: final statistics, else last record */
	uint64_t start_realtime_ns;
	uint32_t *targets; /* pids */
	uint32_t target_count;
	bool system_wide;
	bool follow;
	bool ended; /* final statistics were found */
	uint32_t end_reason;
	uint32_t probe_cost_ns;
	uint32_t probe_method;
	uint64_t min_duration_ns;
	uint64_t daemon_cpu_ns;
	uint64_t bytes;
	uint32_t topics; /* string: "api ioctl sched" */
};

/* What model_index() prepares; nobody else touches it. */
struct model_index {
	uint32_t *threads; /* thread rows by (tid, first_ns) */
	uint32_t thread_count;
	uint32_t *calls; /* first call of each thread, and the end: threads.count + 1 entries */
	uint32_t *ioctls;
};

/* A growable array: MODEL_ARRAY(struct call) calls; -> calls.row[i], calls.count. */
#define MODEL_ARRAY(type)          \
	struct {                   \
		type *row;         \
		uint32_t count;    \
		uint32_t capacity; \
	}

struct model {
	struct string_table *strings;
	struct clock_table *clocks;
	struct trace_info info;
	MODEL_ARRAY(uint32_t) files; /* strings: paths given on the command line */
	MODEL_ARRAY(uint32_t) notes; /* strings: what capture could not do */
	MODEL_ARRAY(struct process) processes;
	MODEL_ARRAY(struct thread) threads;
	MODEL_ARRAY(struct function) functions; /* by function id; name 0 = unknown id */
	MODEL_ARRAY(struct call) calls; /* sorted by (thread, start_ns, depth) after loading */
	MODEL_ARRAY(struct ioctl_call) ioctls; /* sorted by (thread, start_ns) */
	MODEL_ARRAY(struct driver) drivers;
	MODEL_ARRAY(struct cpu_switch) switches; /* sorted by (cpu, ts_ns) */
	MODEL_ARRAY(struct wake) wakes; /* sorted by ts_ns */
	MODEL_ARRAY(struct account) accounts; /* sorted by (thread, ts_ns) */
	MODEL_ARRAY(struct cpu_stat) cpu_stats; /* sorted by (cpu, ts_ns) */
	MODEL_ARRAY(struct host_stat) host_stats; /* sorted by ts_ns */
	MODEL_ARRAY(struct device) devices;
	MODEL_ARRAY(struct device_task)
	tasks; /* sorted by (device, start_ns) after the clock join */
	MODEL_ARRAY(struct coverage) coverage;
	MODEL_ARRAY(struct source_loss) sources;
	MODEL_ARRAY(struct short_calls) short_calls;
	MODEL_ARRAY(struct span) spans; /* filled by join/timelines */
	MODEL_ARRAY(struct timeline) timelines; /* one per thread */
	struct model_index index;
	struct pbt_damage damage; /* of all files together */
	uint64_t bad_rows; /* rows dropped because they made no sense */
};

/* model_new - an empty model, or NULL without memory. The caller frees it with model_free(). */
struct model *model_new(void);
void model_free(struct model *model);

/*
 * model_grow - room for one more row
 *
 * Used through MODEL_PUSH. Returns false without memory, beyond 2^32 - 2 rows and when
 * the rows would take more than half of the machine's memory.
 */
bool model_grow(void **row, uint32_t *capacity, uint32_t count, size_t row_size);

/* MODEL_PUSH(&model->calls, value): append; evaluates to false without memory. */
#define MODEL_PUSH(array, value)                                                 \
	(((array)->count < (array)->capacity ||                                  \
	  model_grow((void **)&(array)->row, &(array)->capacity, (array)->count, \
		     sizeof(*(array)->row)))                                     \
		 ? ((array)->row[(array)->count++] = (value), true)              \
		 : false)

/*
 * model_index - sort the rows as told above and prepare the look-ups below
 *
 * Calls, ioctls, switches, wakes, accounts and statistics are sorted; rows of
 * the same instant keep their order. May be called again after rows were added.
 * Returns false without memory.
 */
bool model_index(struct model *model);

/*
 * model_index_threads - the part of model_index() that model_thread_at() needs
 *
 * For loaders, which look threads up before they know the rows' threads.
 */
bool model_index_threads(struct model *model);

/* Id of a text (NULL and "" are 0), added when it is new; INDEX_NONE without memory. */
uint32_t model_string(struct model *model, const char *text);

/* The text of a string id; "" for 0 and for ids out of range. */
const char *model_text(const struct model *model, uint32_t id);

/*
 * Thread row alive at an instant, by tid; INDEX_NONE if there is none. O(log n).
 * Of several threads that had this tid it is the last one that began at or
 * before ts_ns, or the first one for an instant before them all: records of a
 * thread's last and first moments may bear instants slightly outside its life.
 * Valid after model_index().
 */
uint32_t model_thread_at(const struct model *model, uint32_t tid, uint64_t ts_ns);

/* First row of calls/ioctls of a thread, and how many: [*first, *first + count). O(log n). */
uint32_t model_thread_calls(const struct model *model, uint32_t thread, uint32_t *first);
uint32_t model_thread_ioctls(const struct model *model, uint32_t thread, uint32_t *first);

#endif /* PROFBPF_ANALYZER_MODEL_H */
