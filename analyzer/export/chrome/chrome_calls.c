/* SPDX-License-Identifier: Apache-2.0 */
/* Threads' rows: the job's marks, runtime calls, and the ioctls inside them. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/chrome/chrome_trace.h"
#include "analyzer/export/timeline/lanes.h"
#include "analyzer/export/timeline/thread_slices.h"
#include "lib/trace/function_kinds.h"

struct calls_writer {
	struct chrome_trace *trace;
	struct lanes lanes;
	struct crowds crowds;
	struct thread_slice first; /* first slice of the current crowd */
	uint32_t thread;
	uint32_t pid;
};

/* Adds the thread's own row first, then further rows for calls that overlap because records are wrong. */
static uint64_t add_row(struct calls_writer *calls, bool first)
{
	struct chrome_trace *trace = calls->trace;
	const struct model *model = trace->model;
	const struct thread *thread = &model->threads.row[calls->thread];
	char name[EXPORT_NAME_SIZE];

	if (!first) {
		export_thread_name(model, calls->thread, thread->tid, name, sizeof(name));
		return chrome_add_row(trace, calls->pid, name);
	}
	calls->pid = chrome_process(trace, thread->process, thread->tid);
	export_thread_name(model, calls->thread, thread->tid, name, sizeof(name));
	chrome_name_thread(trace, calls->pid, thread->tid, name);
	return thread->tid;
}

static void add_arg(struct chrome_writer *writer, enum export_arg arg, uint64_t value)
{
	if (export_arg_is_handle(arg))
		chrome_arg_hex(writer, export_arg_name(arg), value);
	else
		chrome_arg_uint(writer, export_arg_name(arg), value);
}

/* Writes arrows to the backward pass and from the forward pass. */
static void write_passes(struct calls_writer *calls, uint32_t tid, const struct thread_slice *slice)
{
	struct chrome_writer *writer = &calls->trace->writer;
	uint32_t row = (uint32_t)(slice->call - calls->trace->model->calls.row);

	for (int out = 1; out >= 0; out--) {
		uint64_t flow;
		uint32_t at = 0;

		while ((flow = pass_flows_each(&calls->trace->passes, out, row, &at))) {
			chrome_event(writer, out ? 's' : 'f', EXPORT_PASSES, EXPORT_PASSES, calls->pid, tid);
			chrome_id(writer, flow);
			chrome_time(writer, slice->start_ns);
			if (!out)
				chrome_raw(writer, "\"bp\":\"e\"");
			chrome_event_end(writer);
		}
	}
}

static void write_call(struct calls_writer *calls, uint32_t tid, const struct thread_slice *slice)
{
	struct chrome_trace *trace = calls->trace;
	const struct model *model = trace->model;
	struct chrome_writer *writer = &trace->writer;
	const struct call *call = slice->call;
	const struct function *function = NULL;
	char name[EXPORT_NAME_SIZE];

	if (call->function < model->functions.count)
		function = &model->functions.row[call->function];
	chrome_event(writer, 'X', export_function_name(model, call->function, name, sizeof(name)),
		     function_kind_name(function ? function->kind : 0), calls->pid, tid);
	chrome_time(writer, slice->start_ns);
	chrome_duration(writer, slice->end_ns - slice->start_ns);
	for (int i = 0; function && i < 3; i++) {
		enum export_arg arg = export_arg_of_role(function->roles[i]);

		if (arg != EXPORT_ARGS)
			add_arg(writer, arg, call->args[i]);
	}
	if (call->text)
		chrome_arg_text(writer, export_arg_name(export_arg_of_text(model, call)),
				model_text(model, call->text));
	if (call->flags & MODEL_CALL_ERROR)
		chrome_arg_int(writer, export_arg_name(ARG_RET), (int32_t)call->ret);
	if (call->flags & MODEL_CALL_LEFT)
		chrome_arg_true(writer, export_arg_name(ARG_LEFT));
	if (call->flags & MODEL_CALL_ENTRY)
		chrome_arg_true(writer, export_arg_name(ARG_END_UNKNOWN));
	if (slice->open)
		chrome_arg_true(writer, export_arg_name(ARG_OPEN));
	if (slice->cut)
		chrome_arg_true(writer, export_arg_name(ARG_CUT));
	chrome_event_end(writer);
	for (uint32_t task = export_flow_first(&trace->flows, call); task != INDEX_NONE;
	     task = export_flow_next(&trace->flows, task)) {
		chrome_event(writer, 's', "launch", "launch", calls->pid, tid);
		chrome_id(writer, export_flow_id(task));
		chrome_time(writer, slice->start_ns);
		chrome_event_end(writer);
	}
	write_passes(calls, tid, slice);
}

/* Writes a range that the job marked, under the job's name for it. */
static void write_range(struct calls_writer *calls, uint32_t tid, const struct thread_slice *slice)
{
	struct chrome_writer *writer = &calls->trace->writer;

	chrome_event(writer, 'X', model_text(calls->trace->model, slice->call->text), EXPORT_RANGE,
		     calls->pid, tid);
	chrome_time(writer, slice->start_ns);
	chrome_duration(writer, slice->end_ns - slice->start_ns);
	if (slice->open)
		chrome_arg_true(writer, export_arg_name(ARG_OPEN));
	if (slice->cut)
		chrome_arg_true(writer, export_arg_name(ARG_CUT));
	chrome_event_end(writer);
}

static void write_ioctl(struct calls_writer *calls, uint32_t tid, const struct thread_slice *slice)
{
	const struct model *model = calls->trace->model;
	struct chrome_writer *writer = &calls->trace->writer;
	const struct ioctl_call *ioctl = slice->ioctl;
	char name[EXPORT_NAME_SIZE];

	chrome_event(writer, 'X', export_ioctl_name(model, ioctl, name, sizeof(name)), "ioctl",
		     calls->pid, tid);
	chrome_time(writer, slice->start_ns);
	chrome_duration(writer, slice->end_ns - slice->start_ns);
	if (ioctl->driver < model->drivers.count && model->drivers.row[ioctl->driver].device)
		chrome_arg_text(writer, export_arg_name(ARG_DEVICE),
				model_text(model, model->drivers.row[ioctl->driver].device));
	add_arg(writer, ARG_COMMAND, ioctl->cmd);
	if (slice->open)
		chrome_arg_true(writer, export_arg_name(ARG_OPEN));
	else if (!(ioctl->flags & MODEL_IOCTL_UNSEEN))
		chrome_arg_int(writer, export_arg_name(ARG_RET), ioctl->ret);
	if (slice->cut)
		chrome_arg_true(writer, export_arg_name(ARG_CUT));
	chrome_event_end(writer);
}

/* Writes several short calls as one slice, named by their function if it is the same for all. */
static void write_crowd(struct calls_writer *calls, uint32_t tid, const struct crowd *crowd)
{
	struct chrome_trace *trace = calls->trace;
	struct chrome_writer *writer = &trace->writer;
	const struct call *call = calls->first.call;
	char name[EXPORT_NAME_SIZE] = "several calls";

	if (crowd->alike && call)
		export_function_name(trace->model, call->function, name, sizeof(name));
	else if (crowd->alike)
		export_ioctl_name(trace->model, calls->first.ioctl, name, sizeof(name));
	chrome_event(writer, 'X', name, "merged", calls->pid, tid);
	chrome_time(writer, crowd->start_ns);
	chrome_duration(writer, crowd->end_ns - crowd->start_ns);
	chrome_arg_uint(writer, "calls", crowd->count);
	chrome_arg_uint(writer, "in_ns", crowd->in_ns);
	chrome_event_end(writer);
}

/* Finds the row with room from @start_ns to @end_ns; returns false, and counts the slice, if there is none. */
static bool place(struct calls_writer *calls, uint64_t start_ns, uint64_t end_ns, uint32_t *tid)
{
	struct lane *lane = lanes_place(&calls->lanes, start_ns, end_ns);
	uint64_t ended_ns;

	if (!lane) {
		calls->trace->not_placed++;
		return false;
	}
	if (!lane->track)
		lane->track = add_row(calls, calls->lanes.count == 1);
	while (lane_pop(lane, start_ns, &ended_ns))
		;
	lane_push(lane, end_ns);
	*tid = (uint32_t)lane->track;
	return true;
}

static void write_slice(struct calls_writer *calls, const struct thread_slice *slice)
{
	uint32_t tid;

	if (!place(calls, slice->start_ns, slice->end_ns, &tid))
		return;
	if (slice->range)
		write_range(calls, tid, slice);
	else if (slice->call)
		write_call(calls, tid, slice);
	else
		write_ioctl(calls, tid, slice);
}

static void write_done(struct calls_writer *calls)
{
	const struct crowd *done = &calls->crowds.done;
	uint32_t tid;

	if (done->count == 1)
		write_slice(calls, &calls->first);
	else if (done->count && place(calls, done->start_ns, done->end_ns, &tid))
		write_crowd(calls, tid, done);
}

/* The key of a slice; calls and ioctls have different keys. */
static uint64_t key_of(const struct thread_slice *slice)
{
	return slice->call ? (uint64_t)slice->call->function << 1 :
			     (uint64_t)slice->ioctl->cmd << 1 | 1;
}

static enum crowd_news take(struct crowds *crowds, const struct thread_slice *slice)
{
	return crowd_take(crowds, slice->start_ns, slice->end_ns, key_of(slice), slice->range);
}

static void write_thread(struct calls_writer *calls)
{
	struct chrome_trace *trace = calls->trace;
	struct thread_slices slices;
	struct thread_slice slice;

	lanes_clear(&calls->lanes);
	calls->crowds = (struct crowds){ .resolution_ns = trace->calls.resolution_ns };
	thread_slices_begin(&slices, trace->model, &trace->window, &trace->ranges,
			    calls->thread);
	while (thread_slices_next(&slices, &slice)) {
		enum crowd_news news = take(&calls->crowds, &slice);

		write_done(calls);
		if (news == CROWD_BEGAN)
			calls->first = slice;
		else if (news == CROWD_PASSED)
			write_slice(calls, &slice);
	}
	crowd_end(&calls->crowds);
	write_done(calls);
}

/* ---- The result of merging */

struct calls_survey {
	struct chrome_trace *trace;
	struct sliver_counts *counts;
	bool mark;
	uint64_t slices;
	struct thread_slice first;
};

static void forget_arrows(const struct calls_survey *survey, const struct thread_slice *slice)
{
	struct export_flows *flows = &survey->trace->flows;

	for (uint32_t task = slice->call && survey->mark ? export_flow_first(flows, slice->call) : INDEX_NONE;
	     task != INDEX_NONE; task = export_flow_next(flows, task))
		flows->shown[task] = false;
	if (slice->call && survey->mark)
		pass_flows_hide(&survey->trace->passes,
				(uint32_t)(slice->call - survey->trace->model->calls.row));
}

static void count_done(struct calls_survey *survey, const struct crowd *done)
{
	survey->slices += done->count > 0;
	survey->counts->runs += done->count > 1 ? done->count : 0;
	survey->counts->slices += done->count > 1;
}

static void survey_thread(struct calls_survey *survey, uint32_t thread)
{
	struct chrome_trace *trace = survey->trace;
	struct crowds crowds = { .resolution_ns = survey->counts->resolution_ns };
	struct thread_slices slices;
	struct thread_slice slice;

	thread_slices_begin(&slices, trace->model, &trace->window, &trace->ranges, thread);
	while (thread_slices_next(&slices, &slice)) {
		enum crowd_news news = take(&crowds, &slice);

		count_done(survey, &crowds.done);
		survey->slices += news == CROWD_PASSED && !slice.range;
		if (news == CROWD_BEGAN)
			survey->first = slice;
		if (news == CROWD_GREW) {
			forget_arrows(survey, &survey->first);
			forget_arrows(survey, &slice);
		}
	}
	crowd_end(&crowds);
	count_done(survey, &crowds.done);
}

int chrome_survey_calls(struct chrome_trace *trace, struct sliver_counts *counts, bool mark,
			uint64_t *slices)
{
	struct calls_survey survey = { .trace = trace, .counts = counts, .mark = mark };

	counts->runs = counts->slices = 0;
	for (uint32_t i = 0; i < trace->model->threads.count; i++)
		if (trace->chosen[i])
			survey_thread(&survey, i);
	*slices = survey.slices;
	return 0;
}

int chrome_write_calls(struct chrome_trace *trace)
{
	struct calls_writer calls = { .trace = trace, .lanes = { .nest = true } };

	for (calls.thread = 0; calls.thread < trace->model->threads.count; calls.thread++) {
		if (trace->chosen[calls.thread])
			write_thread(&calls);
	}
	lanes_free(&calls.lanes);
	return 0;
}
