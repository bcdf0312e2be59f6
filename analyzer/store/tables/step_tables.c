/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: training steps on devices. */
#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/device/operator_steps.h"
#include "analyzer/analyse/device/operators.h"
#include "analyzer/store/define_table.h"

#define STEP_TRACE ((const struct device_step_trace *)at->outer)

#define STEP_COLUMNS(COLUMN)                                                                  \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(STEP_TRACE->device))       \
	COLUMN(source, TEXT, "source", "the source from which the steps are known",           \
	       cell_text(step_source_name(STEP_TRACE->source)))                               \
	COLUMN(step, NUMBER, "step", "its number in that source", cell_u64(row->number))      \
	COLUMN(host_start_ns, INSTANT, "host start", "when the host began it",                \
	       cell_not_0(row->host_ns))                                                      \
	COLUMN(start_ns, INSTANT, "start", "begin of the step", cell_u64(row->start_ns))      \
	COLUMN(fp_start_ns, INSTANT, "forward", "begin of the forward pass",                  \
	       cell_u64(row->fp_start_ns))                                                    \
	COLUMN(bp_end_ns, INSTANT, "backward end", "end of the backward pass",                \
	       cell_not_0(row->bp_end_ns))                                                    \
	COLUMN(end_ns, INSTANT, "end", "end of the step", cell_u64(row->end_ns))              \
	COLUMN(iteration_interval_ns, NS, "gap",                                              \
	       "from the end of the step before to the forward pass; negative: they overlap", \
	       cell_known_i64(!row->first, row->gap_ns))                                      \
	COLUMN(fp_bp_ns, NS, "fp+bp", "both passes",                                          \
	       cell_known_i64(row->bp_end_ns, row->fp_bp_ns))                                 \
	COLUMN(tail_ns, NS, "tail", "from the end of the backward pass to the step's",        \
	       cell_known_i64(row->bp_end_ns, row->tail_ns))                                  \
	COLUMN(device_busy_ns, NS, "device busy", "time in which it was busy",                \
	       cell_known(!model->devices.row[STEP_TRACE->device].whole, row->busy_ns))

static bool next_step(struct table_cursor *at)
{
	const struct device_step_results *steps = at->of->results->device_steps;

	if (!steps)
		return false;
	CURSOR_OUTER(at, steps->count)
	{
		const struct device_step_trace *trace = &steps->traces[at->i];

		if (cursor_inner(at, trace, trace->rows, trace->count, sizeof(*trace->rows)))
			return true;
	}
	return false;
}

DEFINE_TABLE(device_steps, struct device_step_row, STEP_COLUMNS, next_step,
	     "a training step on a device");

#define REPETITION_COLUMNS(COLUMN)                                                           \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(STEP_TRACE->device))      \
	COLUMN(number, NUMBER, "number", "from 0", cell_u64(row->number))                    \
	COLUMN(begins_with, TEXT, "begins with", "the operator that it begins with",         \
	       cell_string(model, STEP_TRACE->fp_name))                                      \
	COLUMN(start_ns, INSTANT, "start", "end of the one before", cell_u64(row->start_ns)) \
	COLUMN(end_ns, INSTANT, "end", "end of its last task", cell_u64(row->end_ns))        \
	COLUMN(device_busy_ns, NS, "device busy", "time in which it was busy",               \
	       cell_known(!model->devices.row[STEP_TRACE->device].whole, row->busy_ns))

static bool next_repetition(struct table_cursor *at)
{
	const struct device_step_results *steps = at->of->results->device_steps;

	if (!steps)
		return false;
	CURSOR_OUTER(at, steps->repetition_count)
	{
		const struct device_step_trace *trace = &steps->repetitions[at->i];

		if (cursor_inner(at, trace, trace->rows, trace->count, sizeof(*trace->rows)))
			return true;
	}
	return false;
}

DEFINE_TABLE(device_repetitions, struct device_step_row, REPETITION_COLUMNS, next_repetition,
	     "a repetition on a device, without evidence that it is a step");

#define HOST_LOOPS(at) (&(at)->of->results->device_steps->loops)
#define HOST_LOOP ((const struct host_loop *)at->outer)

#define HOST_STEP_COLUMNS(COLUMN)                                                           \
	COLUMN(process, ROW, "process", "a row of processes", cell_u64(HOST_LOOP->process)) \
	COLUMN(thread, ROW, "thread", "a row of threads; NULL: of all threads",             \
	       cell_index(HOST_LOOP->thread))                                               \
	COLUMN(known_from, TEXT, "known from", "its source",                                \
	       cell_text(loop_evidence_text(HOST_LOOP->evidence)))                          \
	COLUMN(step, NUMBER, "step", "its number from its mark, else from 0",               \
	       cell_u64(row->number))                                                       \
	COLUMN(start_ns, INSTANT, "start", "begin: its mark, or the copy that feeds it",    \
	       cell_u64(row->start_ns))                                                     \
	COLUMN(duration_ns, NS, "duration", "until the next one begins, or its mark ends",  \
	       cell_u64(row->end_ns - row->start_ns))

static bool next_host_step(struct table_cursor *at)
{
	if (!at->of->results->device_steps)
		return false;
	CURSOR_OUTER(at, HOST_LOOPS(at)->loops.count)
	{
		const struct host_loop *loop = &HOST_LOOPS(at)->loops.row[at->i];

		if (cursor_part(at, loop, HOST_LOOPS(at)->turns.row, loop->first, loop->count,
				sizeof(struct host_turn)))
			return true;
	}
	return false;
}

DEFINE_TABLE(host_steps, struct host_turn, HOST_STEP_COLUMNS, next_host_step,
	     "an iteration of the host's loop, found by its calls");

#define REDUCE_STEP (&STEP_TRACE->rows[at->k])

#define REDUCE_COLUMNS(COLUMN)                                                                 \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(STEP_TRACE->device))        \
	COLUMN(step, NUMBER, "step", "as in device_steps", cell_u64(REDUCE_STEP->number))      \
	COLUMN(stream, NUMBER, "stream", "the stream on which they ran", cell_id(row->stream)) \
	COLUMN(count, COUNT, "collectives", "collectives", cell_u64(row->count))               \
	COLUMN(start_ns, INSTANT, "start", "begin of the first", cell_u64(row->start_ns))      \
	COLUMN(end_ns, INSTANT, "end", "end of the last", cell_u64(row->end_ns))               \
	COLUMN(total_ns, NS, "total", "sum of their times", cell_u64(row->total_ns))

/* Iterates over traces, their steps, and the rows of each step; at->m counts the latter. */
static bool next_reduce(struct table_cursor *at)
{
	const struct device_step_results *steps = at->of->results->device_steps;

	if (!steps)
		return false;
	CURSOR_OUTER(at, steps->count)
	{
		const struct device_step_trace *trace = &steps->traces[at->i];

		for (; at->k < trace->count && at->k < at->inner_limit; at->k++, at->m = 0) {
			const struct device_step_row *step = &trace->rows[at->k];

			if (at->m < step->reduce_count) {
				at->row = &trace->reduces[step->first_reduce + at->m++];
				at->outer = trace;
				return true;
			}
		}
	}
	return false;
}

DEFINE_TABLE(device_step_reduces, struct step_reduce, REDUCE_COLUMNS, next_reduce,
	     "the collectives of a step on one stream");

#define SERIES ((const struct operator_series *)at->outer)

static struct cell shapes(const struct model *model, uint32_t string)
{
	return string == OPERATOR_SEVERAL ? cell_none() : cell_string(model, string);
}

#define OPERATOR_STEP_COLUMNS(COLUMN)                                                          \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(SERIES->device))            \
	COLUMN(name, TEXT, "name", "the operator; NULL: all of a type",                        \
	       SERIES->of_type ? cell_none() : cell_string(model, SERIES->name))               \
	COLUMN(type, TEXT, "type", "its type, or the kind of its tasks",                       \
	       SERIES->type ? cell_string(model, SERIES->type)                                 \
			    : cell_text(task_kind_name(SERIES->kind)))                         \
	COLUMN(core, TEXT, "core", "what ran it", cell_text(operator_core_name(SERIES->core))) \
	COLUMN(step, NUMBER, "step", "as in device_steps", cell_u64(row->step))                \
	COLUMN(count, COUNT, "tasks", "its tasks in the step", cell_u64(row->count))           \
	COLUMN(total_ns, NS, "total", "sum of their times", cell_u64(row->total_ns))           \
	COLUMN(max_ns, NS, "max", "the longest", cell_u64(row->max_ns))                        \
	COLUMN(input_shapes, TEXT, "input shapes", "NULL if the step's tasks differ",          \
	       shapes(model, row->input_shapes))                                               \
	COLUMN(output_shapes, TEXT, "output shapes", "NULL if the step's tasks differ",        \
	       shapes(model, row->output_shapes))

static bool next_operator_step(struct table_cursor *at)
{
	const struct operator_step_results *results = at->of->results->operator_steps;

	if (!results)
		return false;
	CURSOR_OUTER(at, results->count)
	{
		const struct operator_series *series = &results->series[at->i];

		if (cursor_part(at, series, results->steps, series->first, series->count,
				sizeof(*results->steps)))
			return true;
	}
	return false;
}

DEFINE_TABLE(operator_steps, struct operator_step, OPERATOR_STEP_COLUMNS, next_operator_step,
	     "time of an operator, or of a type of operators, in one step");
