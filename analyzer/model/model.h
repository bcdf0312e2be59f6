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
 *
 * The rows are declared in one header for each subject, which this one includes; the comment of a field says
 * whether it is an index or a string.
 */
#ifndef PROFBPF_ANALYZER_MODEL_MODEL_H
#define PROFBPF_ANALYZER_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/calls.h"
#include "analyzer/model/counted_calls.h"
#include "analyzer/model/recording.h"
#include "analyzer/model/device.h"
#include "analyzer/model/host_figures.h"
#include "analyzer/model/imported.h"
#include "analyzer/model/schedule.h"
#include "analyzer/model/stack_rows.h"
#include "analyzer/model/threads.h"
#include "lib/trace/clocks.h"
#include "lib/trace/pbt.h"
#include "lib/base/strings.h"
#include "proto/trace.pb-c.h"

#define INDEX_NONE UINT32_MAX

/* indices_none - INDEX_NONE @count times, and once more; the caller frees. NULL without memory. */
uint32_t *indices_none(uint32_t count);

/* Private to model_index() and the look-ups below. */
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
	struct survey survey;
	MODEL_ARRAY(uint32_t) files; /* strings: paths given on the command line */
	MODEL_ARRAY(uint32_t) notes; /* strings: limits of the capture, damage of device files */
	MODEL_ARRAY(struct process) processes;
	MODEL_ARRAY(struct thread) threads;
	MODEL_ARRAY(struct function) functions; /* by function id; name 0 = unknown id */
	MODEL_ARRAY(struct call) calls; /* sorted by (thread, start_ns, depth) after loading */
	MODEL_ARRAY(struct counted_call) counted_calls; /* in no order; empty unless survey.to_ns is set */
	MODEL_ARRAY(uint64_t)
	call_costs; /* by call: the probes' share of its duration; empty unless it is to be subtracted */
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
	MODEL_ARRAY(struct task_metric) task_metrics; /* rows of one task are consecutive */
	MODEL_ARRAY(struct device_step) device_steps; /* as their files have them, in no order */
	MODEL_ARRAY(struct device_reduce) device_reduces;
	MODEL_ARRAY(struct step_mark) step_marks; /* in no order */
	MODEL_ARRAY(struct link_use) link_uses;
	MODEL_ARRAY(struct communication_time) communication_times;
	MODEL_ARRAY(struct memory_record) memory_records; /* in no order */
	MODEL_ARRAY(struct api_statistic) api_statistics;
	MODEL_ARRAY(struct device_fact) device_facts;
	MODEL_ARRAY(struct operator_sum) operator_sums;
	MODEL_ARRAY(struct pass_arrow) pass_arrows;
	MODEL_ARRAY(struct fused_operator) fused_operators;
	MODEL_ARRAY(struct told_advice) told_advice;
	MODEL_ARRAY(struct cluster_step) cluster_steps; /* by device, in order of number */
	MODEL_ARRAY(struct imported_operator) imported_operators;
	MODEL_ARRAY(struct imported_size) imported_sizes; /* by operator, in order of time */
	MODEL_ARRAY(struct imported_cpu) imported_cpu; /* by operator, in order of time */
	MODEL_ARRAY(struct imported_batch) imported_batches; /* by process, in order of time */
	MODEL_ARRAY(struct imported_read) imported_reads; /* the same */
	MODEL_ARRAY(struct coverage) coverage;
	MODEL_ARRAY(struct shed_change) shed_changes; /* sorted by (what, session, ts_ns) after loading */
	MODEL_ARRAY(struct ends_change)
	ends_changes; /* sorted by (function, ts_ns) after loading */
	MODEL_ARRAY(struct thread_role) thread_roles;
	MODEL_ARRAY(struct source_loss) sources;
	MODEL_ARRAY(struct short_calls) short_calls;
	MODEL_ARRAY(struct launch_caller) launch_callers; /* each pair once */
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
	uint64_t threadless_rows; /* dropped rows of threads that no other record names */
	uint64_t unknown_values; /* of a later version of the format; taken for unknown */
	uint64_t unknown_batches; /* of kinds of a later version; left alone */
};

/* model_has_pid - is there a process with this id? */
bool model_has_pid(const struct model *model, uint32_t pid);

/*
 * model_has_sleeps - were long sleeps, and waits for interpreters' locks, recorded?
 *
 * Only topic stack records them. Traces that are older than topic sample do not say whether topic stack was on.
 */
bool model_has_sleeps(const struct model *model);

/* model_new - an empty model, or NULL without memory. The caller frees it with model_free(). */
struct model *model_new(void);
void model_free(struct model *model);

/*
 * model_grow - makes room for one more row
 *
 * Used through MODEL_PUSH. Returns false without memory, beyond 2^32 - 2 rows, and when
 * the rows would exceed their limit (rows_fit.h).
 */
bool model_grow(void **row, uint32_t *capacity, uint32_t count, size_t row_size);

/* model_fit - give back the room for rows that do not come any more, if there are any; used through MODEL_FIT */
void model_fit(void **row, uint32_t *capacity, uint32_t count, size_t row_size);

#define MODEL_FIT(array) \
	model_fit((void **)&(array)->row, &(array)->capacity, (array)->count, sizeof(*(array)->row))

/* MODEL_PUSH(&model->calls, value): append; evaluates to false without memory. */
#define MODEL_PUSH(array, value)                                                 \
	(((array)->count < (array)->capacity ||                                  \
	  model_grow((void **)&(array)->row, &(array)->capacity, (array)->count, \
		     sizeof(*(array)->row)))                                     \
		 ? ((array)->row[(array)->count++] = (value), true)              \
		 : false)

/*
 * model_index - sorts the rows as stated above and prepares the look-ups below
 *
 * Calls, ioctls, switches, wakes, accounts and statistics are sorted; rows of
 * the same instant keep their order. May be called again after rows were added.
 * Returns false without memory.
 */
bool model_index(struct model *model);

/*
 * model_index_settled - the same for rows that still have thread ids instead of indices of threads
 *
 * Each row is converted while it is moved to its place, which may be in a file: a second pass would cost twice as much. A
 * callback may be called more than once for a row, then with @again; rows for which it returns false are dropped.
 */
struct model_settling {
	void *context;
	/* Converts the thread ids of a row to indices; returns false if the thread is unknown. */
	bool (*call)(void *context, void *row, bool again);
	bool (*ioctl)(void *context, void *row, bool again);
	bool (*cpu_switch)(void *context, void *row, bool again); /* always true */
};
bool model_index_settled(struct model *model, const struct model_settling *settling);

/*
 * model_index_threads - the part of model_index() that model_thread_at() needs
 *
 * For loaders, which look threads up before they know the rows' threads.
 */
bool model_index_threads(struct model *model);

/*
 * The id of a text (NULL and "" are 0), which is added when it is new; INDEX_NONE without memory. Texts are cut at
 * MODEL_TEXT_MAX bytes: a text of some MiB would be in every row of a report.
 */
#define MODEL_TEXT_MAX (64u << 10)
uint32_t model_string(struct model *model, const char *text);

/*
 * The duration of a call, for an open call so far; without the probes' share if that is to be subtracted
 * (analyse/probe_cost.h), but never below 0.
 */
uint64_t model_call_ns(const struct model *model, const struct call *call);

/* Where the tasks of the device end that the one at @first is of. After the clock join, which sorts them. O(log n). */
uint32_t model_device_end(const struct model *model, uint32_t first);

/* Further facts about a task from its file; NULL = none. */
const struct task_detail *model_task_detail(const struct model *model,
					    const struct device_task *task);

/* The catalogs' name of a command of a driver; 0 = unknown. */
uint32_t model_command_name(const struct model *model, uint32_t driver, uint32_t cmd);

/* The text of a string id; "" for 0 and for ids out of range. */
const char *model_text(const struct model *model, uint32_t id);

/*
 * The row of the thread with @tid that is alive at an instant; INDEX_NONE if there is none. O(log n).
 * Of several threads with this tid it is the last one that began at or before ts_ns, or the first one for an
 * instant before them all: records of a thread's first and last moments may have timestamps slightly outside
 * its life.
 * Valid after model_index().
 */
uint32_t model_thread_at(const struct model *model, uint32_t tid, uint64_t ts_ns);

/*
 * The process with @pid at an instant, found by its main thread; INDEX_NONE: not known. An id may be used again by a later
 * process, and the main thread of the earlier one need not be in the recording.
 */
uint32_t model_process_at(const struct model *model, uint32_t pid, uint64_t ts_ns);

/* The process that had the id of a process's parent when that process started; INDEX_NONE: not known. */
uint32_t model_parent(const struct model *model, uint32_t process);

/* First interrupt of a thread that ends after an instant, if it is before that of the next thread. */
uint32_t model_interrupt_after(const struct model *model, uint32_t thread, uint64_t ts_ns);

/* Are all rows from @first_ns to @last_ns the model's? */
static inline bool model_has_time(const struct model *model, uint64_t first_ns, uint64_t last_ns)
{
	return !model->survey.to_ns ||
	       (first_ns >= model->survey.from_ns && last_ns <= model->survey.to_ns);
}

/* Are all calls of an instant the model's? */
static inline bool model_has_calls(const struct model *model, uint64_t ts_ns)
{
	return model->survey.all_calls || model_has_time(model, ts_ns, ts_ns);
}

/* First row of calls/ioctls of a thread, and how many: [*first, *first + count). O(log n). */
uint32_t model_thread_calls(const struct model *model, uint32_t thread, uint32_t *first);
uint32_t model_thread_ioctls(const struct model *model, uint32_t thread, uint32_t *first);

#endif /* PROFBPF_ANALYZER_MODEL_MODEL_H */
