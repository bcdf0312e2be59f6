/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: data pipelines, and the steps of the trainers that they feed. */
#include "analyzer/analyse/pipeline/pipelines.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/store/define_table.h"

#define TRAINER ((const struct pipeline_steps *)at->outer)
#define TRAINER_PIPELINE (TRAINER->usage->pipeline)

#define STEP_COLUMNS(COLUMN)                                                                       \
	COLUMN(pid, NUMBER, "pid", "the trainer's process id",                                     \
	       cell_u64(model->processes.row[TRAINER_PIPELINE->process].pid))                      \
	COLUMN(framework, TEXT, "framework", "framework of the pipeline that feeds it",            \
	       cell_text(TRAINER_PIPELINE->framework))                                             \
	COLUMN(step, NUMBER, "step", "counted from 0, by batches fetched", cell_u64(row->index))   \
	COLUMN(start_ns, INSTANT, "start", "when it requested the batch", cell_u64(row->start_ns)) \
	COLUMN(duration_ns, NS, "duration", "when it requested the next batch",                    \
	       cell_u64(row->duration_ns))                                                         \
	COLUMN(data_wait_ns, NS, "data wait", "the part of it until the batch was available",      \
	       cell_u64(row->data_wait_ns))                                                        \
	COLUMN(bounded_by, TEXT, "bounded by", "the operator that delayed it most, if the delay "  \
					       "is large",                                         \
	       row->op == INDEX_NONE                                                               \
		       ? cell_none()                                                               \
		       : cell_string(model, TRAINER_PIPELINE->operators.row[row->op].name))

static bool next_step(struct table_cursor *at)
{
	const struct step_results *steps = at->of->results->steps;

	if (!steps)
		return false;
	CURSOR_OUTER(at, steps->count)
	{
		const struct pipeline_steps *trainer = &steps->pipelines[at->i];

		if (cursor_inner(at, trainer, trainer->rows, trainer->count,
				 sizeof(*trainer->rows)))
			return true;
	}
	return false;
}

DEFINE_TABLE(steps, struct step, STEP_COLUMNS, next_step,
	     "a step of a trainer: from one batch to the next");

#define USAGE ((const struct pipeline_usage *)at->outer)
/* A file of samples contains neither waits nor off-CPU states. */
#define SAMPLED (USAGE->pipeline->sampled)
#define OPERATOR (&USAGE->pipeline->operators.row[row - USAGE->operators])

#define OPERATOR_COLUMNS(COLUMN)                                                                \
	COLUMN(pid, NUMBER, "pid", "process id",                                                \
	       cell_u64(model->processes.row[USAGE->pipeline->process].pid))                    \
	COLUMN(framework, TEXT, "framework", "MindData, torch, tf.data, MegEngine",             \
	       cell_text(USAGE->pipeline->framework))                                           \
	COLUMN(id, STATUS, "id", "its number in the pipeline", cell_i64(OPERATOR->id))          \
	COLUMN(name, TEXT, "name", "its name", cell_string(model, OPERATOR->name))              \
	COLUMN(type, TEXT, "type", "its type", cell_string(model, OPERATOR->type))              \
	COLUMN(workers, COUNT, "workers", "its threads or processes",                           \
	       cell_not_0(OPERATOR->workers))                                                   \
	COLUMN(utilization_percent, PERCENT, "CPU", "CPU time as a share of one CPU",           \
	       cell_known_real(row->has_times, row->utilization))                               \
	COLUMN(run_ns, NS, "run", "time on a CPU", cell_known(row->has_times, row->run_ns))     \
	COLUMN(runnable_ns, NS, "runnable", "time ready and waiting for a CPU",                 \
	       cell_known(row->has_times && !SAMPLED, row->runnable_ns))                        \
	COLUMN(blocked_ns, NS, "blocked", "time asleep",                                        \
	       cell_known(row->has_times && !SAMPLED, row->blocked_ns))                         \
	COLUMN(elements, COUNT, "elements", "elements that it passed on",                       \
	       cell_known(row->has_elements, row->elements))                                    \
	COLUMN(input_wait_ns, NS, "input wait", "time that it waited for elements",             \
	       cell_known(!SAMPLED, row->input_wait_ns))                                        \
	COLUMN(output_wait_ns, NS, "output wait", "time that it waited for space in its queue", \
	       cell_known(!SAMPLED, row->output_wait_ns))

static bool next_operator(struct table_cursor *at)
{
	const struct pipeline_results *pipelines = at->of->results->pipelines;

	if (!pipelines)
		return false;
	CURSOR_OUTER(at, pipelines->count)
	{
		const struct pipeline_usage *usage = &pipelines->rows[at->i];

		if (cursor_inner(at, usage, usage->operators, usage->pipeline->operators.count,
				 sizeof(*usage->operators)))
			return true;
	}
	return false;
}

DEFINE_TABLE(pipeline_operators, struct operator_pipeline_usage, OPERATOR_COLUMNS, next_operator,
	     "an operator of a data pipeline");
