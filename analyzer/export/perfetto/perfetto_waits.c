/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits: below a thread's own track its longer sleeps with their reasons, and for
 * each disk the requests to it.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/host/block_io.h"
#include "analyzer/analyse/host/sleep_reason.h"
#include "analyzer/join/thread/sleep_causes.h"
#include "analyzer/export/timeline/lanes.h"
#include "analyzer/export/perfetto/perfetto_trace.h"
#include "proto/trace.pb-c.h"

/* Shorter sleeps are shown only if they waited for a disk or a page: there may be millions. */
#define SHOWN_MIN_NS 100000

struct waits_writer {
	struct perfetto_trace *trace;
	struct syscall_table *syscalls;
	uint64_t track; /* track of the thread, 0 = none yet */
	uint32_t category;
};

static uint32_t value(struct perfetto_trace *trace, const char *text)
{
	return perfetto_name(trace, PERFETTO_VALUES, perfetto_own(trace, text));
}

static bool is_shown(const struct span *span, const struct block_request *request)
{
	if (span->state != STATE_SLEEP && span->state != STATE_DISK && span->state != STATE_STOPPED)
		return false;
	return request || sleep_is_major_fault(span) || span->end_ns - span->start_ns >= SHOWN_MIN_NS;
}

static uint64_t add_track(struct perfetto_trace *trace, uint32_t index)
{
	return perfetto_add_track(
		trace, &(struct perfetto_track){ .name = "asleep",
						 .parent = perfetto_thread_track(trace, index),
						 .description = "Sleeps of 0.1 ms and more, and "
								"those for a disk or a page" });
}

/* Returns the announced name of the waker that ended the sleep; 0 = unknown. */
static uint32_t waker(struct waits_writer *waits, const struct span *span)
{
	struct perfetto_trace *trace = waits->trace;
	const char *interrupt = sleep_interrupt(trace->model, span);
	char name[EXPORT_NAME_SIZE];

	if (interrupt)
		return value(trace, interrupt);
	if (span->flags & SPAN_NO_WAKE)
		return 0;
	if (span->flags & (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ))
		return value(trace, "interrupt");
	if (span->other >= trace->model->threads.count)
		return 0;
	return value(trace, export_thread_name(trace->model, span->other, 0, name, sizeof(name)));
}

static uint32_t object(struct waits_writer *waits, const struct span *span)
{
	const struct sleep_object *row = sleep_object(waits->trace->model, span);
	char text[EXPORT_NAME_SIZE];

	if (!row)
		return 0;
	sleep_object_text(waits->trace->model, row, text, sizeof(text));
	return *text ? value(waits->trace, text) : 0;
}

static void write_sleep(struct waits_writer *waits, uint32_t thread, const struct span *span)
{
	struct perfetto_trace *trace = waits->trace;
	const struct block_request *request = sleep_request(trace->model, span);
	uint64_t start_ns = span->start_ns, end_ns = span->end_ns;
	const char *call = syscall_name(waits->syscalls, span->syscall);
	uint32_t name, by, what, in, disk = 0;
	struct perfetto_marks marks;
	bool cut;

	if (!is_shown(span, request) || !export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	if (!waits->track)
		waits->track = add_track(trace, thread);
	name = perfetto_name(trace, PERFETTO_EVENTS,
			     perfetto_own(trace, sleep_reason_name(sleep_reason(
							 trace->model, waits->syscalls, span))));
	by = waker(waits, span);
	what = object(waits, span);
	in = call ? value(trace, call) : 0;
	if (request)
		disk = perfetto_model_name(trace, PERFETTO_VALUES,
					   trace->model->drivers.row[request->driver].device);
	perfetto_begin(trace, waits->track, start_ns, name, waits->category, &marks);
	if (in)
		perfetto_arg_text(trace, ARG_SYSCALL, in);
	if (what)
		perfetto_arg_text(trace, ARG_OBJECT, what);
	if (by)
		perfetto_arg_text(trace, ARG_WOKEN_BY, by);
	if (disk) {
		perfetto_arg_text(trace, ARG_DEVICE, disk);
		perfetto_arg_uint(trace, ARG_LATENCY_NS, block_latency_ns(request));
	}
	if (cut)
		perfetto_arg_true(trace, ARG_CUT);
	perfetto_event_end(trace, &marks);
	perfetto_end(trace, waits->track, end_ns);
}

static void write_sleeps(struct waits_writer *waits)
{
	const struct model *model = waits->trace->model;

	for (uint32_t t = 0; t < model->timelines.count; t++) {
		const struct timeline *timeline = &model->timelines.row[t];

		waits->track = 0;
		for (uint32_t i = 0; waits->trace->chosen[t] && i < timeline->count; i++)
			write_sleep(waits, t, &model->spans.row[timeline->first + i]);
	}
}

static int by_disk(const void *a, const void *b)
{
	const struct block_request *x = *(const struct block_request *const *)a;
	const struct block_request *y = *(const struct block_request *const *)b;
	uint64_t xs = x->end_ns - x->dur_ns, ys = y->end_ns - y->dur_ns;

	if (x->driver != y->driver)
		return x->driver < y->driver ? -1 : 1;
	if (xs != ys)
		return xs < ys ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static void write_request(struct waits_writer *waits, const struct block_request *row,
			  struct lanes *lanes, uint64_t root)
{
	struct perfetto_trace *trace = waits->trace;
	uint64_t start_ns = row->end_ns - row->dur_ns, end_ns = row->end_ns, ended_ns;
	struct perfetto_marks marks;
	char text[EXPORT_NAME_SIZE];
	uint32_t name, who;
	struct lane *lane;
	bool cut;

	if (!trace->chosen[row->thread] || !export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	lane = lanes_place(lanes, start_ns, end_ns);
	if (!lane) {
		trace->counts.not_placed++;
		return;
	}
	if (!lane->track)
		lane->track = perfetto_add_track(
			trace, &(struct perfetto_track){ .name = "requests", .parent = root });
	while (lane_pop(lane, start_ns, &ended_ns))
		perfetto_end(trace, lane->track, ended_ns);
	name = perfetto_name(trace, PERFETTO_EVENTS,
			     perfetto_own(trace, block_operation_name(row->operation)));
	who = value(trace, export_thread_name(trace->model, row->thread, 0, text, sizeof(text)));
	perfetto_begin(trace, lane->track, start_ns, name, waits->category, &marks);
	perfetto_arg_text(trace, ARG_WHO, who);
	perfetto_arg_uint(trace, ARG_BYTES, row->bytes);
	perfetto_arg_uint(trace, ARG_SECTOR, row->sector);
	perfetto_arg_uint(trace, ARG_LATENCY_NS, block_latency_ns(row));
	if (row->flags & PROFBPF__BLOCK_REQUESTS__FLAG__FAILED)
		perfetto_arg_true(trace, ARG_FAILED);
	if (cut)
		perfetto_arg_true(trace, ARG_CUT);
	perfetto_event_end(trace, &marks);
	lane_push(lane, end_ns);
}

static void end_lanes(struct perfetto_trace *trace, struct lanes *lanes)
{
	uint64_t end_ns;

	for (uint32_t i = 0; i < lanes->count; i++)
		while (lane_pop(&lanes->lane[i], UINT64_MAX, &end_ns))
			perfetto_end(trace, lanes->lane[i].track, end_ns);
	lanes_clear(lanes);
}

static int write_requests(struct waits_writer *waits)
{
	const struct model *model = waits->trace->model;
	uint32_t count = model->block_requests.count, driver = INDEX_NONE;
	const struct block_request **order = reallocarray(NULL, (size_t)count + 1, sizeof(*order));
	struct lanes lanes = { 0 };
	uint64_t root = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		order[i] = &model->block_requests.row[i];
	qsort(order, count, sizeof(*order), by_disk);
	for (uint32_t i = 0; i < count; i++) {
		if (order[i]->driver != driver) {
			end_lanes(waits->trace, &lanes);
			driver = order[i]->driver;
			root = perfetto_add_track(
				waits->trace,
				&(struct perfetto_track){
					.name = model_text(model, model->drivers.row[driver].device),
					.description = "Requests of the targets to this disk" });
		}
		write_request(waits, order[i], &lanes, root);
	}
	end_lanes(waits->trace, &lanes);
	lanes_free(&lanes);
	free(order);
	return 0;
}

int perfetto_write_waits(struct perfetto_trace *trace)
{
	struct waits_writer waits = { .trace = trace };
	int err;

	waits.syscalls = syscall_table_new(model_text(trace->model, trace->model->info.arch));
	if (!waits.syscalls)
		return -ENOMEM;
	waits.category = perfetto_name(trace, PERFETTO_CATEGORIES, perfetto_own(trace, "wait"));
	write_sleeps(&waits);
	err = write_requests(&waits);
	syscall_table_free(waits.syscalls);
	return err;
}
