/* SPDX-License-Identifier: Apache-2.0 */
/* Threads' rows: what the job marked, runtime calls, and the ioctls inside them. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/chrome/chrome_trace.h"
#include "analyzer/export/timeline/lanes.h"
#include "analyzer/export/timeline/thread_slices.h"
#include "lib/trace/function_kinds.h"

struct calls_writer {
	struct chrome_trace *trace;
	struct lanes lanes;
	uint32_t thread;
	uint32_t pid;
};

/* The thread's own row first; further ones for calls that overlap, when records are wrong. */
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
}

/* What the job marked, by the name that it gave it. */
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

static void write_thread(struct calls_writer *calls)
{
	struct chrome_trace *trace = calls->trace;
	struct thread_slices slices;
	struct thread_slice slice;
	uint64_t ended_ns;

	lanes_clear(&calls->lanes);
	thread_slices_begin(&slices, trace->model, &trace->window, &trace->ranges,
			    calls->thread);
	while (thread_slices_next(&slices, &slice)) {
		struct lane *lane = lanes_place(&calls->lanes, slice.start_ns, slice.end_ns);

		if (!lane) {
			trace->not_placed++;
			continue;
		}
		if (!lane->track)
			lane->track = add_row(calls, calls->lanes.count == 1);
		while (lane_pop(lane, slice.start_ns, &ended_ns))
			;
		lane_push(lane, slice.end_ns);
		if (slice.range)
			write_range(calls, (uint32_t)lane->track, &slice);
		else if (slice.call)
			write_call(calls, (uint32_t)lane->track, &slice);
		else
			write_ioctl(calls, (uint32_t)lane->track, &slice);
	}
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
