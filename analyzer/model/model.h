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
	uint32_t probe_inside_ns; /* what its probe adds to its recorded duration; 0 = not known */
	uint32_t probe_whole_ns; /* ... and to that of a call around it */
	uint32_t probe_string_ns; /* more in both if a string argument was kept */
	uint32_t
		launches; /* what it launches or prepares, where its own name tells; 0 = it does not */
};

/* How it is known what a call launched. */
enum call_named {
	NAMED_NOT = 0, /* unknown */
	NAMED_ARGUMENT, /* a string argument */
	NAMED_FUNCTION, /* the function's own name: aclnnAdd */
	NAMED_HANDLE, /* the call that made the handle or registered the address */
	NAMED_SYMBOL, /* the program's symbol table */
	NAMED_INNER, /* a launching call inside this one */
	NAMED_TASK, /* the device task that it launched */
};

/* flags of calls */
#define MODEL_CALL_OPEN 0x01 /* had not returned when the thread or the session ended */
#define MODEL_CALL_ERROR 0x02 /* returned an error by the function's convention */
#define MODEL_CALL_INNER 0x04 /* inside a call of the same family: its time is not in totals */
#define MODEL_CALL_PART 0x08 /* a launch, copy or collective inside another of the same family: the same work */
#define MODEL_CALL_SHARED 0x10 /* its work is one with that of another call, which has the task */

struct call {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t thread;
	uint32_t function;
	uint32_t ret;
	uint32_t text; /* string argument, or the name of what is launched; 0 = none */
	uint64_t args[3];
	uint32_t task; /* device task that it launched (the first, if several) or INDEX_NONE */
	uint8_t flags;
	uint8_t depth;
	uint8_t named; /* enum call_named: where text comes from, of launching calls */
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
	uint32_t module; /* string: driver bound to the device; 0 = none */
	uint32_t device; /* string: device node */
	uint32_t first_command; /* names of its commands: model.commands[first .. first + count) */
	uint32_t command_count;
};

/* What a driver's command is called; the first that fits counts. */
struct driver_command {
	uint32_t value; /* of the command number and mask */
	uint32_t mask;
	uint32_t name;
};

/* What lies at an address of a program, by its symbol table. */
struct code_name {
	uint64_t address;
	uint64_t from_ns;
	uint32_t process;
	uint32_t name; /* as people write it */
};

/* What a thread waits for. */
struct sleep_object {
	uint64_t object; /* inode, futex address, process or number of descriptors, by kind */
	uint32_t device; /* as the kernel keeps it: major << 20 | minor */
	uint32_t name; /* string: path, 0 = none or not known */
	uint8_t kind; /* enum sleep_kind of bpf/events.h */
};

struct cpu_switch {
	uint64_t ts_ns;
	uint32_t prev_tid;
	uint32_t next_tid;
	uint32_t prev_thread; /* index into threads or INDEX_NONE (idle) */
	uint32_t next_thread;
	uint32_t object; /* what prev waits for: index into sleep_objects or INDEX_NONE */
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
	uint32_t interrupt; /* string: which one it was, with WAKE_HARDIRQ or WAKE_SOFTIRQ; 0 = unknown */
};

/* A major page fault: one for which the page had to be fetched. */
struct major_fault {
	uint64_t end_ns; /* when it was there */
	uint64_t dur_ns; /* since the thread first slept for it; 0 = it did not, or unknown */
	uint64_t address;
	uint64_t offset; /* of the page in the file */
	uint32_t thread;
	uint32_t file; /* string: path, 0 = none or unknown */
};

/* A request to a block device. */
struct block_request {
	uint64_t end_ns; /* when it was complete */
	uint64_t dur_ns; /* since it was made */
	uint64_t wait_ns; /* part of it before it went to the device, with BLOCK_ISSUED */
	uint64_t sector; /* of 512 bytes */
	uint32_t bytes;
	uint32_t thread; /* that made it */
	uint32_t driver; /* index into drivers: the disk */
	uint8_t operation; /* enum block_operation of bpf/events.h */
	uint8_t flags; /* BLOCK_* of bpf/events.h */
};

/* A sleep that ended because a block request of its thread was complete. */
struct io_wait {
	uint32_t span;
	uint32_t request; /* the last one that was complete before the thread was woken */
};

/* An interrupt that took the CPU from a thread. */
struct interrupt {
	uint64_t ts_ns;
	uint64_t dur_ns;
	uint32_t thread;
	uint16_t cpu;
	uint8_t flags; /* WAKE_HARDIRQ, WAKE_SOFTIRQ, WAKE_TIMER of bpf/events.h */
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
	uint64_t io_ns; /* with ACCOUNT_HAS_IO */
	uint64_t read_bytes; /* from and to devices; these four with ACCOUNT_HAS_BYTES */
	uint64_t write_bytes;
	uint64_t read_chars; /* by read, write and their kin, whatever they read from */
	uint64_t write_chars;
	int16_t syscall; /* asleep at a session's start: the system call it slept in, -1 = none */
};

/* What the kernel knew of a process as a whole at an instant. */
struct process_stat {
	uint64_t ts_ns;
	uint32_t process;
	uint32_t flags; /* PROCESS_* of bpf/events.h */
	uint32_t threads;
	uint32_t ns_pid; /* in its own pid namespace, 0 = unknown */
	uint32_t ns_inode;
	uint32_t cgroup; /* index into cgroups, or INDEX_NONE */
	uint64_t rss_bytes; /* with PROCESS_HAS_RSS */
	uint64_t peak_rss_bytes;
	uint64_t gone_run_ns; /* of its threads that are no more; the tick's user and system */
	uint64_t gone_user_ns;
	uint64_t gone_system_ns;
};

struct cgroup {
	uint64_t id;
	uint32_t path; /* from the hierarchy's root; 0 = unknown */
	bool version1;
};

/* flags of cgroup_stats */
#define MODEL_CGROUP_QUOTA 1 /* quota_ns and period_ns are known; quota 0 = none */
#define MODEL_CGROUP_THROTTLING 2
#define MODEL_CGROUP_USAGE 4
#define MODEL_CGROUP_SPLIT 8 /* user_ns and system_ns */

/* Figures of a group at an instant; cumulative but for the quota. */
struct cgroup_stat {
	uint64_t ts_ns;
	uint32_t cgroup; /* index into cgroups */
	uint32_t flags;
	uint64_t quota_ns; /* CPU time per period */
	uint64_t period_ns;
	uint64_t periods;
	uint64_t throttled_periods;
	uint64_t throttled_ns;
	uint64_t usage_ns;
	uint64_t user_ns;
	uint64_t system_ns;
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

/* A reading of the host: pressure, frequency, time in idle states. */
struct counter {
	uint64_t ts_ns;
	uint64_t value;
	uint32_t name;
	uint32_t cpu; /* INDEX_NONE = the whole machine */
	uint8_t unit; /* Profbpf__Counters__Unit */
};

struct device {
	uint32_t id; /* as in the file */
	uint32_t process; /* whose runtime reported it, or INDEX_NONE */
	uint32_t name;
	uint32_t kind; /* "cpu", "gpu", ... */
	uint32_t source; /* "opencl-layer", ... */
	uint8_t clock; /* Profbpf__DeviceClock */
	bool anchored; /* its counter was set against the host's clock once: it may be off, and drift */
	bool own_clock; /* of a device file read without a trace: its clock is the model's */
	bool has_rank;
	uint32_t rank; /* of its process in a distributed job, if has_rank */
	uint32_t stages; /* of the job's pipeline; 0 = not told */
	uint32_t stage; /* from 0: which of them its rank is in, if stages */
	double peak_flops; /* floating-point operations per second that it can do; 0 = unknown */
	double peak_bandwidth; /* bytes per second to and from its memory; 0 = unknown */
};

/* flags of device tasks */
#define MODEL_TASK_UNTIMED 0x01 /* start or end not reported: in no busy time */
#define MODEL_TASK_BY_ID 0x02 /* joined by the numbers of stream and task */
#define MODEL_TASK_NUMBERED 0x04 /* it has such numbers, and so have the calls of its stream */
#define MODEL_TASK_EDGE 0x08 /* before the first or after the last recorded call of its stream */
#define MODEL_TASK_AT_STEP 0x10 /* where its device's clock jumps: times are less sure */
#define MODEL_TASK_NEGATIVE 0x20 /* starts before its launch by the clock as it was declared */
#define MODEL_TASK_BY_ORDER 0x40 /* joined by order within its stream, before its clock was known */

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
	uint32_t type; /* string: the operator's, "MatMul"; 0 = unknown */
	uint32_t core; /* string: what ran it, as the file says, "AI_CORE"; 0 = unknown */
	uint32_t detail; /* 1 + index into task_details; 0 = none */
	int32_t status;
	uint8_t kind; /* Profbpf__DeviceTasks__Kind */
	uint8_t flags;
};

#define MODEL_ID_NONE UINT64_MAX

/* flags of task details: figures that are known */
#define MODEL_DETAIL_FLOPS 1
#define MODEL_DETAIL_MOVED 2
#define MODEL_DETAIL_UTILIZATION 4

/* What some files tell of a task besides; strings are as the file writes them, 0 = unknown. */
struct task_detail {
	uint64_t task_id; /* MODEL_ID_NONE = unknown, as the next two */
	uint64_t context_id;
	uint64_t model_id;
	uint64_t step; /* the file's number of the step it belongs to; MODEL_ID_NONE = unknown */
	uint32_t blocks; /* cores it ran on; INDEX_NONE = unknown, as the next */
	uint32_t mix_blocks;
	uint32_t state; /* "static", "dynamic" */
	uint32_t input_shapes;
	uint32_t input_types;
	uint32_t input_formats;
	uint32_t output_shapes;
	uint32_t output_types;
	uint32_t output_formats;
	uint32_t group; /* of communication: who takes part */
	uint32_t known; /* MODEL_DETAIL_*: which of the next three are told */
	double flops; /* floating-point operations of the task, not per second */
	double moved_bytes; /* that it reads and writes */
	double utilization; /* percent of the operations that its core could have done meanwhile */
	uint32_t first_metric; /* task_metrics[first .. first + count) */
	uint32_t metric_count;
};

/* What a counter of the device gave for a task. */
struct task_metric {
	uint32_t name; /* string, as the file has it with its unit: "aic_mac_ratio", "aicore_time(us)" */
	float value; /* there may be dozens of each of millions of tasks */
};

/* A step as a device file tells it. 0 = not told. */
struct device_step {
	uint64_t number; /* the file's */
	uint64_t model_id; /* MODEL_ID_NONE = unknown */
	uint64_t fp_start_ns; /* forward pass begins; CLOCK_MONOTONIC, as task times after the join */
	uint64_t bp_end_ns; /* backward pass ended */
	uint64_t end_ns; /* of the step */
	uint32_t device; /* index into devices */
	uint32_t first_reduce; /* device_reduces[first .. first + count) */
	uint32_t reduce_count;
};

struct device_reduce {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t stream; /* MODEL_ID_NONE = unknown */
};

/* A step as the job's own framework marks it on the host: ProfilerStep#3. */
struct step_mark {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t number;
	uint32_t process; /* index into processes, or INDEX_NONE */
	uint32_t device; /* index into devices, if it is a device that the mark is of; or INDEX_NONE */
};

/* What a communication operation moved over a link, or how long it waited. */
struct link_use {
	uint64_t ns;
	uint64_t bytes;
	uint32_t device; /* index into devices */
	uint32_t operation; /* string: the operation's name, as its task has it */
	uint32_t transport; /* string: "HCCS", "RDMA", "SDMA", "LOCAL"; 0 = unknown */
	uint32_t source; /* ranks; INDEX_NONE = unknown */
	uint32_t destination;
	uint32_t count; /* transfers or waits */
	bool wait; /* waited for others; nothing moved */
};

/* Times of a communication operation that a file gives as such; UINT64_MAX = not told. */
struct communication_time {
	uint64_t elapsed_ns;
	uint64_t transit_ns;
	uint64_t wait_ns;
	uint64_t synchronization_ns; /* of wait_ns: before the first transfer */
	uint64_t idle_ns;
	uint32_t device; /* index into devices, INDEX_NONE = of the only one */
	uint32_t operation; /* string */
};

/* flags of memory records */
#define MODEL_MEMORY_CHANGE 1 /* bytes is known: an allocation, or negative: a release */
#define MODEL_MEMORY_ALLOCATED 2 /* allocated is known */
#define MODEL_MEMORY_RESERVED 4 /* reserved is known */
#define MODEL_MEMORY_HOST 8 /* of the host's memory, not a device's */

/* What a file says of memory at an instant. */
struct memory_record {
	uint64_t ts_ns;
	int64_t bytes;
	uint64_t address; /* 0 = unknown */
	uint64_t allocated; /* bytes in use by then, as the allocator counts */
	uint64_t reserved; /* bytes that the allocator holds */
	uint32_t device; /* the file's number of it */
	uint32_t process; /* index into processes, or INDEX_NONE */
	uint32_t file; /* index into imports */
	uint32_t component; /* string: "PTA", "GE"; 0 = unknown */
	uint32_t flags;
};

/* A row of a table of calls that another profiler has summed up. */
struct api_statistic {
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	double variance; /* square microseconds; negative = unknown */
	uint32_t level; /* string: "AscendCL" */
	uint32_t name;
	uint32_t file; /* index into imports */
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
				 * (or the last one before it got the CPU); asleep: who woke it; with
				 * SPAN_WOKEN_HARDIRQ or SOFTIRQ a string, that interrupt's name */
	uint32_t object; /* asleep: what it waited for: index into sleep_objects or INDEX_NONE */
	int16_t syscall; /* asleep: the system call it slept in, -1 none */
	uint16_t cpu; /* running, runnable */
	uint8_t state; /* enum thread_state */
	uint8_t flags; /* asleep: SWITCH_IOWAIT, SWITCH_FAULT; how woken: SPAN_WOKEN_* */
};

#define SPAN_MAJOR_FAULT 0x01 /* asleep: in a page fault for which the page had to be fetched */
#define SPAN_CPU_IDLE 0x01 /* runnable: nothing ran on that CPU, it was being woken up */
#define SPAN_TIMEOUT 0x02 /* asleep: it gave a time at which to give up */
#define SPAN_THROTTLED 0x02 /* runnable: but its cgroup had used up its quota */
#define SPAN_WOKEN_HARDIRQ 0x10
#define SPAN_WOKEN_SOFTIRQ 0x20
#define SPAN_WOKEN_TIMER 0x40 /* a sleep or a timeout ended */
#define SPAN_NO_WAKE 0x80 /* the wake-up was not recorded */

/* A file with code that frames lie in. */
struct code_file {
	uint32_t path; /* in the target's view */
	uint32_t build_id; /* hexadecimal, 0 = none */
	uint64_t size; /* bytes and CLOCK_REALTIME of the last change; 0 = unknown */
	int64_t mtime_ns;
};

/* A place in code. Names are filled in by join/symbols; 0 = unknown. */
struct code_frame {
	uint64_t offset; /* in the file */
	uint32_t file; /* index into code_files or INDEX_NONE */
	uint32_t name; /* function */
	uint32_t source; /* source file, 0 = unknown */
	uint32_t line; /* 0 = unknown */
	uint8_t kind; /* Profbpf__Stacks__Kind */
};

/* stack_frames[first .. first + depth), innermost frame first. */
struct code_stack {
	uint32_t first;
	uint32_t depth;
};

/* flags of samples */
#define MODEL_SAMPLE_BLOCK 0x01 /* asleep for dur_ns; else on a CPU */
#define MODEL_SAMPLE_PYTHON 0x02 /* Python frames, whatever the thread did */
#define MODEL_SAMPLE_LOCK 0x04 /* with the interpreter's lock in its hands */
#define MODEL_SAMPLE_WAIT 0x08 /* asleep waiting for that lock */
#define MODEL_SAMPLE_SHORT 0x10 /* asleep too shortly for a stack to be kept */

struct stack_sample {
	uint64_t ts_ns;
	uint64_t dur_ns;
	uint32_t thread;
	uint32_t stack; /* index into code_stacks or INDEX_NONE */
	uint32_t waker; /* MODEL_SAMPLE_WAIT: thread that ended it, INDEX_NONE = a timeout or unknown */
	uint16_t cpu;
	uint8_t flags;
};

/* A process that runs CPython. */
struct python_interpreter {
	uint64_t ts_ns;
	uint32_t process; /* index into processes */
	uint32_t version; /* major << 8 | minor */
	bool lock_known; /* waits for its lock are told apart */
};

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

/* What a framework says a thread works for, found in a process that ran already. */
struct thread_role {
	uint64_t ts_ns; /* when it was looked at */
	uint32_t thread;
	uint32_t framework; /* "MindData" */
	uint32_t name; /* the framework's: "MapOp::WorkerEntry" */
	int32_t op; /* the framework's own number of the operator; -1 = of none */
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

/* A device file that was taken in, and what of it was not. Strings. */
struct imported_file {
	uint32_t path;
	uint32_t format;
	uint32_t tasks;
	uint32_t calls;
	uint32_t devices;
};

struct import_finding {
	uint32_t file; /* index into imports */
	uint32_t what;
	uint32_t example; /* of the first, 0 = none */
	uint64_t count;
};

/* What probes cost, by the class of the probed instruction; see proto/trace.proto. */
struct probe_cost {
	uint32_t instruction; /* string */
	uint32_t inside_ns;
	uint32_t whole_ns;
};

#define PROBE_COSTS_MAX 8

/* An operator of a data pipeline as another profiler's file tells it; the next three belong to one. */
struct imported_operator {
	uint32_t process; /* index into processes: one for each set of files */
	int32_t id;
	int32_t parent; /* id; -1 = none */
	uint32_t type; /* string: "Map" */
	uint32_t workers;
	uint32_t capacity; /* of its queue; 0 = it has none */
};

/* How full its queue was at an instant. */
struct imported_size {
	uint64_t ts_ns;
	uint32_t op; /* index into imported_operators */
	uint32_t size;
};

/* CPU time it used between two instants. */
struct imported_cpu {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint32_t op;
};

/* A batch was fetched and, if the pipeline feeds a device, sent. */
struct imported_batch {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t send_ns; /* how long that took, from end_ns on */
	uint32_t process;
	bool sent;
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
	struct probe_cost probe_costs[PROBE_COSTS_MAX]; /* of the first session that says so */
	uint32_t probe_cost_count;
	uint32_t probe_string_ns;
	uint32_t probe_method;
	uint64_t min_duration_ns;
	uint64_t interval_ns; /* between accounts, CPU statistics and counters; 0 = 1 s */
	uint64_t daemon_cpu_ns;
	uint64_t bytes;
	uint32_t stack_rate; /* samples per second and CPU, 0 = none were taken */
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
	MODEL_ARRAY(uint64_t)
	call_costs; /* by call: of its duration, what probes took; empty unless it is to be left out */
	MODEL_ARRAY(struct ioctl_call) ioctls; /* sorted by (thread, start_ns) */
	MODEL_ARRAY(struct driver) drivers;
	MODEL_ARRAY(struct driver_command) commands; /* by driver */
	MODEL_ARRAY(struct code_name)
	code_names; /* sorted by (process, address, from_ns) after loading */
	MODEL_ARRAY(struct sleep_object) sleep_objects;
	MODEL_ARRAY(struct cpu_switch) switches; /* sorted by (cpu, ts_ns) */
	MODEL_ARRAY(struct counter) counters; /* sorted by (name, cpu, ts_ns) */
	MODEL_ARRAY(struct interrupt) interrupts; /* sorted by (thread, ts_ns) */
	MODEL_ARRAY(struct wake) wakes; /* sorted by ts_ns */
	MODEL_ARRAY(struct major_fault) faults; /* sorted by (thread, end_ns) */
	MODEL_ARRAY(struct block_request) block_requests; /* the same */
	MODEL_ARRAY(struct account) accounts; /* sorted by (thread, ts_ns) */
	MODEL_ARRAY(struct cpu_stat) cpu_stats; /* sorted by (cpu, ts_ns) */
	MODEL_ARRAY(struct host_stat) host_stats; /* sorted by ts_ns */
	MODEL_ARRAY(struct process_stat) process_stats; /* sorted by (process, ts_ns) */
	MODEL_ARRAY(struct cgroup) cgroups;
	MODEL_ARRAY(struct cgroup_stat) cgroup_stats; /* sorted by (cgroup, ts_ns) */
	MODEL_ARRAY(struct device) devices;
	MODEL_ARRAY(struct device_task)
	tasks; /* sorted by (device, start_ns) after the clock join */
	MODEL_ARRAY(struct task_detail) task_details;
	MODEL_ARRAY(struct task_metric) task_metrics; /* those of a task follow each other */
	MODEL_ARRAY(struct device_step) device_steps; /* as their files have them, in no order */
	MODEL_ARRAY(struct device_reduce) device_reduces;
	MODEL_ARRAY(struct step_mark) step_marks; /* in no order */
	MODEL_ARRAY(struct link_use) link_uses;
	MODEL_ARRAY(struct communication_time) communication_times;
	MODEL_ARRAY(struct memory_record) memory_records; /* in no order */
	MODEL_ARRAY(struct api_statistic) api_statistics;
	MODEL_ARRAY(struct imported_operator) imported_operators;
	MODEL_ARRAY(struct imported_size) imported_sizes; /* by operator, in order of time */
	MODEL_ARRAY(struct imported_cpu) imported_cpu; /* by operator, in order of time */
	MODEL_ARRAY(struct imported_batch) imported_batches; /* by process, in order of time */
	MODEL_ARRAY(struct coverage) coverage;
	MODEL_ARRAY(struct thread_role) thread_roles;
	MODEL_ARRAY(struct source_loss) sources;
	MODEL_ARRAY(struct short_calls) short_calls;
	MODEL_ARRAY(struct imported_file) imports;
	MODEL_ARRAY(struct import_finding) findings;
	MODEL_ARRAY(struct code_file) code_files;
	MODEL_ARRAY(struct code_frame) code_frames;
	MODEL_ARRAY(uint32_t) stack_frames; /* indices into code_frames */
	MODEL_ARRAY(struct code_stack) code_stacks;
	MODEL_ARRAY(struct stack_sample) stack_samples; /* sorted by ts_ns */
	MODEL_ARRAY(struct python_interpreter) pythons;
	MODEL_ARRAY(struct span) spans; /* filled by join/timelines */
	MODEL_ARRAY(struct timeline) timelines; /* one per thread */
	MODEL_ARRAY(struct io_wait) io_waits; /* sorted by span; filled by join/sleep_causes */
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

/*
 * How long a call of the model lasted, or has lasted so far; without what probes took of it
 * if that is to be left out (analyse/probe_cost.h), but never below 0.
 */
uint64_t model_call_ns(const struct model *model, const struct call *call);

/* What a file tells of a task besides; NULL = nothing. */
const struct task_detail *model_task_detail(const struct model *model,
					    const struct device_task *task);

/* What the catalogs call a command of a driver; 0 = they do not know it. */
uint32_t model_command_name(const struct model *model, uint32_t driver, uint32_t cmd);

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

/* First interrupt of a thread that ends after an instant, if it is before that of the next thread. */
uint32_t model_interrupt_after(const struct model *model, uint32_t thread, uint64_t ts_ns);

/* First row of calls/ioctls of a thread, and how many: [*first, *first + count). O(log n). */
uint32_t model_thread_calls(const struct model *model, uint32_t thread, uint32_t *first);
uint32_t model_thread_ioctls(const struct model *model, uint32_t thread, uint32_t *first);

#endif /* PROFBPF_ANALYZER_MODEL_H */
