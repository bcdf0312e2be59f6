/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_trace.h - shared by the parts of the Perfetto export: the file, the
 * clock, interned names, tracks and slices.
 *
 * All slices, counters and names are on one packet sequence, which is the scope of
 * names. All timestamps are CLOCK_BOOTTIME, because readers always interpret
 * scheduling data as such.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_PERFETTO_PERFETTO_TRACE_H
#define PROFBPF_ANALYZER_EXPORT_PERFETTO_PERFETTO_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "analyzer/export/boot_clock.h"
#include "analyzer/export/timeline/cpu_slices.h"
#include "analyzer/export/export.h"
#include "analyzer/export/export_filter.h"
#include "analyzer/export/timeline/export_flows.h"
#include "analyzer/export/timeline/pass_flows.h"
#include "analyzer/export/timeline/export_names.h"
#include "analyzer/export/timeline/ranges.h"
#include "analyzer/export/perfetto/perfetto_writer.h"

struct device_results;
struct results; /* view/report.h */

/* Which table of interned strings; the values are InternedData's field numbers. */
enum perfetto_table {
	PERFETTO_CATEGORIES = 1,
	PERFETTO_EVENTS = 2,
	PERFETTO_ARGS = 3,
	PERFETTO_VALUES = 29,
};

/*
 * Interned names. Ids of the model's strings are used as they are; texts of the
 * writer's own come after them.
 */
struct perfetto_names {
	struct string_table *own;
	uint32_t base; /* id of the first own text */
	uint8_t *sent; /* by id: a bit for each table in which it has been sent */
	uint32_t sent_count;
	uint32_t args[EXPORT_ARGS];
};

/* Numbers of written events, and of events that could not be written. */
struct perfetto_counts {
	uint64_t slices;
	uint64_t flows;
	uint64_t not_placed; /* slices beyond LANES_MAX at once */
	uint64_t untimed_tasks; /* device tasks without start or end */
	uint64_t skipped_cpus; /* CPU numbers that Perfetto refuses */
};

struct perfetto_trace {
	const struct model *model;
	const struct results *results;
	const struct device_results *devices; /* or NULL */
	const struct export_options *options;
	struct export_window window;
	bool *chosen; /* by thread: of a wanted process */
	struct perfetto_writer writer;
	struct boot_clock clock;
	struct perfetto_names names;
	struct cpu_slices cpus;
	uint64_t tracks; /* uuids given out */
	uint64_t *device_tracks; /* by device; 0 = it has none */
	uint64_t *thread_tracks; /* by thread; 0 = not described yet */
	struct export_flows flows;
	struct pass_flows passes;
	struct ranges ranges;
	struct perfetto_counts counts;
};

/* perfetto_own - id of a text of the writer's own, for perfetto_name() */
uint32_t perfetto_own(struct perfetto_trace *trace, const char *text);

/*
 * perfetto_name - announces a text in a table; returns its id there
 *
 * perfetto_model_name - the same for one of the model's strings; "unknown" for 0
 *
 * @id comes from perfetto_own(). To be called before the packet that uses it is
 * begun.
 */
uint32_t perfetto_name(struct perfetto_trace *trace, enum perfetto_table table, uint32_t id);
uint32_t perfetto_model_name(struct perfetto_trace *trace, enum perfetto_table table,
			     uint32_t string);

/* The properties of a track. */
struct perfetto_track {
	const char *name; /* NULL for thread tracks */
	uint64_t parent; /* 0 = root */
	uint32_t pid; /* with tid: a thread's own track */
	uint32_t tid;
	uint64_t from_ns; /* start of a thread's ownership of its id; 0 = the window's start */
	const char *unit; /* counter: its unit in words, else NULL */
	uint32_t rank; /* among its siblings, 0 = none */
	bool ordered; /* its children are shown by rank */
	const char *description; /* or NULL */
};

/* perfetto_add_track - describe a track; returns its uuid */
uint64_t perfetto_add_track(struct perfetto_trace *trace, const struct perfetto_track *track);

/*
 * perfetto_thread_track - returns the uuid of the track of a thread, an index into the model's
 *
 * A thread is described once: Perfetto takes a second description for another thread that got the same id, and shows
 * both.
 */
uint64_t perfetto_thread_track(struct perfetto_trace *trace, uint32_t thread);

/*
 * perfetto_begin - begins a slice; arguments may follow, then perfetto_event_end()
 * perfetto_end - ends the innermost slice of a track
 *
 * @name and @category have been announced (category 0 = none). @marks is filled by
 * perfetto_begin() and passed to perfetto_event_end().
 */
struct perfetto_marks {
	size_t packet;
	size_t event;
};
void perfetto_begin(struct perfetto_trace *trace, uint64_t track, uint64_t ns, uint32_t name,
		    uint32_t category, struct perfetto_marks *marks);
void perfetto_instant(struct perfetto_trace *trace, uint64_t track, uint64_t ns, uint32_t name,
		      struct perfetto_marks *marks);
void perfetto_event_end(struct perfetto_trace *trace, const struct perfetto_marks *marks);
void perfetto_end(struct perfetto_trace *trace, uint64_t track, uint64_t ns);

void perfetto_arg_uint(struct perfetto_trace *trace, enum export_arg arg, uint64_t value);
void perfetto_arg_int(struct perfetto_trace *trace, enum export_arg arg, int64_t value);
void perfetto_arg_true(struct perfetto_trace *trace, enum export_arg arg);
/* @value was announced in PERFETTO_VALUES. */
void perfetto_arg_text(struct perfetto_trace *trace, enum export_arg arg, uint32_t value);

/* Arrows: from the slice being begun, and to it. Flow ids are used once each. */
void perfetto_flow_from(struct perfetto_trace *trace, uint64_t flow);
void perfetto_flow_to(struct perfetto_trace *trace, uint64_t flow);

/* perfetto_counter - the value of a counter's track from an instant on */
void perfetto_counter(struct perfetto_trace *trace, uint64_t track, uint64_t ns, double value);

/*
 * The parts, each in a file of its own; in the order in which they are written.
 * They leave errors in trace->writer.error; those that return an int also return
 * -ENOMEM.
 */
void perfetto_write_clocks(struct perfetto_trace *trace);
void perfetto_write_system(struct perfetto_trace *trace);
int perfetto_write_processes(struct perfetto_trace *trace);
int perfetto_write_sched(struct perfetto_trace *trace);
int perfetto_write_calls(struct perfetto_trace *trace);
int perfetto_write_stacks(struct perfetto_trace *trace);
int perfetto_write_waits(struct perfetto_trace *trace);
int perfetto_write_host_operators(struct perfetto_trace *trace);
int perfetto_write_job(struct perfetto_trace *trace);
int perfetto_write_devices(struct perfetto_trace *trace);
int perfetto_write_idle(struct perfetto_trace *trace, uint32_t device, uint64_t parent);
int perfetto_write_host(struct perfetto_trace *trace);
void perfetto_write_losses(struct perfetto_trace *trace);

/* Placeholder threads that stand for unknown time, one for each CPU. */
#define PERFETTO_UNRECORDED_PID 2000000000u
#define PERFETTO_UNRECORDED_NAME "unrecorded"
#define PERFETTO_CPUS_MAX 1024 /* the trace processor's limit */

#endif /* PROFBPF_ANALYZER_EXPORT_PERFETTO_PERFETTO_TRACE_H */
