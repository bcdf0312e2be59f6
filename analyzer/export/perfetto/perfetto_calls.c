/* SPDX-License-Identifier: Apache-2.0 */
/* Threads' own tracks: the job's marks, runtime calls, and the ioctls inside them. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/timeline/lanes.h"
#include "analyzer/export/perfetto/perfetto_trace.h"
#include "analyzer/export/timeline/thread_slices.h"
#include "lib/trace/function_kinds.h"

/* Announced names of a function; 0 = not yet. */
struct function_ids {
	uint32_t name;
	uint32_t category;
};

struct calls_writer {
	struct perfetto_trace *trace;
	struct lanes lanes;
	struct function_ids *functions; /* by function; the last element is for unknown functions */
	uint32_t thread;
	uint64_t first_track; /* track of the thread, 0 = none yet */
};

static uint64_t add_thread_track(struct calls_writer *calls)
{
	if (!calls->first_track)
		return perfetto_thread_track(calls->trace, calls->thread);
	/* Calls of one thread never overlap unless records are wrong; such calls get a track of their own. */
	return perfetto_add_track(calls->trace, &(struct perfetto_track){ .name = "calls that overlap others",
									  .parent = calls->first_track });
}

static uint32_t category(struct perfetto_trace *trace, const char *name)
{
	return perfetto_name(trace, PERFETTO_CATEGORIES, perfetto_own(trace, name));
}

static struct function_ids function_ids(struct calls_writer *calls, uint32_t function)
{
	struct perfetto_trace *trace = calls->trace;
	uint32_t count = trace->model->functions.count;
	struct function_ids *ids = &calls->functions[function < count ? function : count];
	char name[EXPORT_NAME_SIZE];

	if (ids->name && function < count)
		return *ids;
	export_function_name(trace->model, function, name, sizeof(name));
	ids->name = perfetto_name(trace, PERFETTO_EVENTS, perfetto_own(trace, name));
	ids->category = category(
		trace, function_kind_name(
			       function < count ? trace->model->functions.row[function].kind : 0));
	return *ids;
}

static void add_call_args(struct perfetto_trace *trace, const struct call *call, uint32_t text)
{
	const struct function *function = NULL;

	if (call->function < trace->model->functions.count)
		function = &trace->model->functions.row[call->function];
	for (int i = 0; function && i < 3; i++) {
		enum export_arg arg = export_arg_of_role(function->roles[i]);

		if (arg != EXPORT_ARGS)
			perfetto_arg_uint(trace, arg, call->args[i]);
	}
	if (text)
		perfetto_arg_text(trace, export_arg_of_text(trace->model, call), text);
	if (call->flags & MODEL_CALL_ERROR)
		perfetto_arg_int(trace, ARG_RET, (int32_t)call->ret);
	if (call->flags & MODEL_CALL_LEFT)
		perfetto_arg_true(trace, ARG_LEFT);
	if (call->flags & MODEL_CALL_ENTRY)
		perfetto_arg_true(trace, ARG_END_UNKNOWN);
}

/* Adds arrows to the backward pass and from the forward pass. */
static void add_passes(struct perfetto_trace *trace, const struct call *call)
{
	uint32_t row = (uint32_t)(call - trace->model->calls.row), from = 0, to = 0;
	uint64_t flow;

	while ((flow = pass_flows_each(&trace->passes, true, row, &from)))
		perfetto_flow_from(trace, flow);
	while ((flow = pass_flows_each(&trace->passes, false, row, &to)))
		perfetto_flow_to(trace, flow);
}

static void begin_call(struct calls_writer *calls, uint64_t track, const struct thread_slice *slice)
{
	struct perfetto_trace *trace = calls->trace;
	const struct call *call = slice->call;
	struct function_ids ids = function_ids(calls, call->function);
	uint32_t text = 0, task;
	struct perfetto_marks marks;

	if (call->text)
		text = perfetto_model_name(trace, PERFETTO_VALUES, call->text);
	perfetto_begin(trace, track, slice->start_ns, ids.name, ids.category, &marks);
	add_call_args(trace, call, text);
	if (slice->open)
		perfetto_arg_true(trace, ARG_OPEN);
	if (slice->cut)
		perfetto_arg_true(trace, ARG_CUT);
	for (task = export_flow_first(&trace->flows, call); task != INDEX_NONE;
	     task = export_flow_next(&trace->flows, task))
		perfetto_flow_from(trace, export_flow_id(task));
	add_passes(trace, call);
	perfetto_event_end(trace, &marks);
}

/* Begins a range that the job marked, under the job's name for it. */
static void begin_range(struct calls_writer *calls, uint64_t track, const struct thread_slice *slice)
{
	struct perfetto_trace *trace = calls->trace;
	uint32_t name = perfetto_model_name(trace, PERFETTO_EVENTS, slice->call->text);
	uint32_t group = category(trace, EXPORT_RANGE);
	struct perfetto_marks marks;

	perfetto_begin(trace, track, slice->start_ns, name, group, &marks);
	if (slice->open)
		perfetto_arg_true(trace, ARG_OPEN);
	if (slice->cut)
		perfetto_arg_true(trace, ARG_CUT);
	perfetto_event_end(trace, &marks);
}

static void begin_ioctl(struct calls_writer *calls, uint64_t track,
			const struct thread_slice *slice)
{
	struct perfetto_trace *trace = calls->trace;
	const struct ioctl_call *ioctl = slice->ioctl;
	char text[EXPORT_NAME_SIZE];
	struct perfetto_marks marks;
	uint32_t name, group = category(trace, "ioctl"), device = 0;

	export_ioctl_name(trace->model, ioctl, text, sizeof(text));
	name = perfetto_name(trace, PERFETTO_EVENTS, perfetto_own(trace, text));
	if (ioctl->driver < trace->model->drivers.count)
		device = trace->model->drivers.row[ioctl->driver].device;
	if (device)
		device = perfetto_model_name(trace, PERFETTO_VALUES, device);
	perfetto_begin(trace, track, slice->start_ns, name, group, &marks);
	if (device)
		perfetto_arg_text(trace, ARG_DEVICE, device);
	perfetto_arg_uint(trace, ARG_COMMAND, ioctl->cmd);
	if (slice->open)
		perfetto_arg_true(trace, ARG_OPEN);
	else if (!(ioctl->flags & MODEL_IOCTL_UNSEEN))
		perfetto_arg_int(trace, ARG_RET, ioctl->ret);
	if (slice->cut)
		perfetto_arg_true(trace, ARG_CUT);
	perfetto_event_end(trace, &marks);
}

static void write_thread(struct calls_writer *calls)
{
	struct perfetto_trace *trace = calls->trace;
	struct thread_slices slices;
	struct thread_slice slice;
	struct lane *lane;
	uint64_t end_ns;

	lanes_clear(&calls->lanes);
	calls->first_track = 0;
	thread_slices_begin(&slices, trace->model, &trace->window, &trace->ranges,
			    calls->thread);
	while (thread_slices_next(&slices, &slice)) {
		lane = lanes_place(&calls->lanes, slice.start_ns, slice.end_ns);
		if (!lane) {
			trace->counts.not_placed++;
			continue;
		}
		if (!lane->track)
			lane->track = add_thread_track(calls);
		if (!calls->first_track)
			calls->first_track = lane->track;
		while (lane_pop(lane, slice.start_ns, &end_ns))
			perfetto_end(trace, lane->track, end_ns);
		if (slice.range)
			begin_range(calls, lane->track, &slice);
		else if (slice.call)
			begin_call(calls, lane->track, &slice);
		else
			begin_ioctl(calls, lane->track, &slice);
		lane_push(lane, slice.end_ns);
	}
	for (uint32_t i = 0; i < calls->lanes.count; i++) {
		lane = &calls->lanes.lane[i];
		while (lane_pop(lane, UINT64_MAX, &end_ns))
			perfetto_end(trace, lane->track, end_ns);
	}
}

int perfetto_write_calls(struct perfetto_trace *trace)
{
	struct calls_writer calls = { .trace = trace, .lanes = { .nest = true } };

	calls.functions =
		calloc((size_t)trace->model->functions.count + 1, sizeof(*calls.functions));
	if (!calls.functions)
		return -ENOMEM;
	for (calls.thread = 0; calls.thread < trace->model->threads.count; calls.thread++) {
		if (trace->chosen[calls.thread])
			write_thread(&calls);
	}
	lanes_free(&calls.lanes);
	free(calls.functions);
	return 0;
}
