/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_trace_<time>.json: the device's steps, which are also in msprof_<time>.json.
 *
 * Each step ("Iteration 3") is a slice with its parts and its collectives; the gap before it is an arrow from the end of
 * the previous step. Each model has its own thread, numbered 70000 + model; 69999 if there is no model.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/export/layouts/msprof/msprof_events.h"

#define TID 69999

struct steps {
	struct msprof_events *events;
	const struct device_step_row *row;
	uint32_t next_task; /* next task of the device, not before the step */
	uint64_t reduces; /* collectives written */
};

/* Begins a slice of the step; the caller writes more arguments and ends it. */
static void begin(struct steps *steps, const char *name, const char *category, uint64_t start_ns,
		  uint64_t end_ns)
{
	char text[64];

	snprintf(text, sizeof(text), "%s %" PRIu64, name, steps->row->number);
	msprof_begin_slice(steps->events, text, category, LAYER_HARDWARE, TID, start_ns, end_ns);
	json_u64(steps->events->json, "Iteration ID", steps->row->number);
}

static void put_iteration(struct steps *steps)
{
	const struct device_step_row *row = steps->row;

	begin(steps, "Iteration", "Iteration Time", row->start_ns, row->end_ns);
	msprof_event_instant(steps->events, "FP Start", row->fp_start_ns);
	msprof_event_instant(steps->events, "BP End", row->bp_end_ns);
	msprof_event_instant(steps->events, "Iteration End", row->end_ns);
	msprof_event_us(steps->events, "Iteration Time(us)", (int64_t)(row->end_ns - row->start_ns));
	msprof_end_slice(steps->events);
}

static void put_passes(struct steps *steps)
{
	const struct device_step_row *row = steps->row;

	if (!row->bp_end_ns || row->bp_end_ns < row->fp_start_ns || row->end_ns < row->bp_end_ns)
		return;
	begin(steps, "FP_BP Time", "FP_BP Time", row->fp_start_ns, row->bp_end_ns);
	msprof_event_instant(steps->events, "FP Start", row->fp_start_ns);
	msprof_event_instant(steps->events, "BP End", row->bp_end_ns);
	msprof_event_us(steps->events, "FP_BP Time(us)", row->fp_bp_ns);
	msprof_end_slice(steps->events);
	begin(steps, "Iteration Refresh", "Iteration Refresh", row->bp_end_ns, row->end_ns);
	msprof_event_instant(steps->events, "BP End", row->bp_end_ns);
	msprof_event_instant(steps->events, "Iteration End", row->end_ns);
	msprof_event_us(steps->events, "Iteration Refresh(us)", row->tail_ns);
	msprof_end_slice(steps->events);
}

/* Writes one end of the gap's arrow. */
static void put_gap_end(struct steps *steps, const char *phase, uint64_t ns)
{
	struct json *json = steps->events->json;
	char name[64];

	snprintf(name, sizeof(name), "Data_aug Bound %" PRIu64, steps->row->number);
	json_map(json, NULL);
	json_text(json, "name", name);
	json_u64(json, "pid", msprof_layer_pid(steps->events->msprof, LAYER_HARDWARE));
	json_u64(json, "tid", TID);
	json_text(json, "ph", phase);
	json_text(json, "cat", "Data_aug Bound");
	json_text(json, "id", name);
	msprof_event_instant(steps->events, "ts", ns);
	json_map(json, "args");
	if (*phase == 's')
		json_u64(json, "Iteration ID", steps->row->number);
	else
		msprof_event_us(steps->events, "Data_aug Bound(us)", steps->row->gap_ns);
	json_map_close(json);
	json_map_close(json);
}

static void put_reduce(struct steps *steps, const struct device_task *task)
{
	const struct msprof *msprof = steps->events->msprof;
	char name[64], text[32];

	snprintf(name, sizeof(name), "Reduce_%" PRIu64 "_%" PRIu64, steps->row->number,
		 steps->reduces);
	msprof_begin_slice(steps->events, name, "Reduce", LAYER_HARDWARE, TID, task->start_ns,
			   task->end_ns);
	json_u64(steps->events->json, "Iteration ID", steps->row->number);
	/* These two are nanoseconds in msprof's files. */
	snprintf(name, sizeof(name), "Reduce Start %" PRIu64, steps->reduces);
	snprintf(text, sizeof(text), "%" PRIu64, msprof_real_ns(msprof, task->start_ns));
	json_text(steps->events->json, name, text);
	snprintf(name, sizeof(name), "Reduce End %" PRIu64, steps->reduces++);
	snprintf(text, sizeof(text), "%" PRIu64, msprof_real_ns(msprof, task->end_ns));
	json_text(steps->events->json, name, text);
	msprof_end_slice(steps->events);
}

/* Collectives that begin in the step, which are tasks of the device; steps come in order. */
static void put_reduces(struct steps *steps)
{
	const struct msprof *msprof = steps->events->msprof;
	const struct model *model = msprof->model;

	while (steps->next_task < model->tasks.count &&
	       (model->tasks.row[steps->next_task].device != msprof->device ||
		model->tasks.row[steps->next_task].start_ns < steps->row->fp_start_ns))
		steps->next_task++;
	for (; steps->next_task < model->tasks.count; steps->next_task++) {
		const struct device_task *task = &model->tasks.row[steps->next_task];

		if (task->device != msprof->device || task->start_ns >= steps->row->end_ns)
			break;
		if (task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION &&
		    msprof_is_timed(msprof, task))
			put_reduce(steps, task);
	}
}

void msprof_put_steps(struct msprof_events *events, const struct device_step_trace *trace)
{
	struct steps steps = { .events = events };

	msprof_name_thread(events, LAYER_HARDWARE, TID, "Step Trace(Model ID:4294967295)");
	for (uint32_t i = 0; i < trace->count; i++) {
		steps.row = &trace->rows[i];
		put_iteration(&steps);
		put_passes(&steps);
		if (!steps.row->first) {
			put_gap_end(&steps, "s", steps.row->start_ns);
			put_gap_end(&steps, "t", steps.row->fp_start_ns);
		}
		put_reduces(&steps);
	}
}

int msprof_step_timeline(const struct msprof *msprof)
{
	const struct device_step_trace *trace = msprof_steps(msprof);
	struct msprof_events events;
	int err;

	if (!trace || msprof->model->devices.row[msprof->device].id > MSPROF_DEVICES_MAX)
		return 0;
	err = msprof_events_open(&events, msprof, "step_trace");
	if (err)
		return err;
	msprof_name_layer(&events, LAYER_HARDWARE, "Ascend Hardware");
	msprof_put_steps(&events, trace);
	return msprof_events_close(&events);
}
