/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/device_steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/intervals.h"
#include "analyzer/model/translate.h"
#include "lib/base/bisect.h"

/* The state of making the trace of one device. */
struct making {
	struct device_tasks of;
	struct step_finding finding;
	struct intervals busy;
	MODEL_ARRAY(struct step_reduce) reduces;
	MODEL_ARRAY(struct step_reduce) mean_reduces;
};

const char *step_source_name(enum step_source source)
{
	switch (source) {
	case STEPS_HOST:
	case STEPS_DEVICE: return "inferred";
	case STEPS_REPETITION: return "repetition";
	default: return "marker";
	}
}

void step_source_text(enum step_source source, uint8_t evidence, char *text, size_t size)
{
	static const char *const texts[] = {
		[STEPS_POINTS] = N_("the operators given"),	 [STEPS_FILE] = N_("the device file"),
		[STEPS_MARKS] = N_("the framework's marks"), [STEPS_TRAINER] = N_("the trainer's fetches"),
		[STEPS_HOST] = N_("the host's loop"),	 [STEPS_DEVICE] = N_("what the device did"),
		[STEPS_REPETITION] = N_("what repeats"),
	};

	snprintf(text, size, "%s%s%s", tr(texts[source]),
		 source == STEPS_HOST || source == STEPS_DEVICE ? tr(", by ") : "",
		 source == STEPS_HOST || source == STEPS_DEVICE ? loop_evidence_text(evidence)
								: "");
}

static const struct device_task *task_at(const struct device_tasks *of, uint32_t i)
{
	return &of->model->tasks.row[of->first + i];
}

static int unite_busy(struct making *making)
{
	for (uint32_t i = 0; i < making->of.count; i++) {
		const struct device_task *task = task_at(&making->of, i);

		if (device_task_counts(task) &&
		    intervals_add(&making->busy, task->start_ns, task->end_ns))
			return -ENOMEM;
	}
	intervals_unite(&making->busy);
	return 0;
}

static uint64_t busy_between(const struct intervals *busy, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t at = BISECT(i, 0, busy->count, busy->row[i].end_ns <= from_ns);
	uint64_t ns = 0;

	for (; at < busy->count && busy->row[at].start_ns < to_ns; at++) {
		uint64_t start_ns = busy->row[at].start_ns, end_ns = busy->row[at].end_ns;

		ns += (end_ns < to_ns ? end_ns : to_ns) - (start_ns > from_ns ? start_ns : from_ns);
	}
	return ns;
}

/* Returns the sum of a stream among the rows from @first on; adds a row for a new stream. NULL without memory. */
static struct step_reduce *stream_of(struct making *making, uint32_t first, uint64_t stream)
{
	struct step_reduce new = { .stream = stream };

	for (uint32_t i = first; i < making->reduces.count; i++) {
		if (making->reduces.row[i].stream == stream)
			return &making->reduces.row[i];
	}
	return MODEL_PUSH(&making->reduces, new) ? &making->reduces.row[making->reduces.count - 1]
						 : NULL;
}

static bool add_reduce(struct making *making, uint32_t first, uint64_t stream, uint64_t start_ns,
		       uint64_t end_ns)
{
	struct step_reduce *sum = stream_of(making, first, stream);

	if (!sum)
		return false;
	if (!sum->count || start_ns < sum->start_ns)
		sum->start_ns = start_ns;
	if (end_ns > sum->end_ns)
		sum->end_ns = end_ns;
	sum->total_ns += end_ns - start_ns;
	sum->count++;
	return true;
}

static int by_stream(const void *a, const void *b)
{
	const struct step_reduce *x = a, *y = b;

	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

/*
 * Adds the file's collectives of the step, else the collectives that begin in it; if steps overlap, each collective
 * goes into the first of them, since a file may place all its steps at one time. *@next is the position for the next
 * step.
 */
static bool add_reduces(struct making *making, const struct step_bounds *bounds,
			struct device_step_row *row, uint32_t *next)
{
	const struct device_tasks *of = &making->of;
	bool ok = true;

	row->first_reduce = making->reduces.count;
	for (uint32_t i = 0; i < bounds->reduce_count && ok; i++) {
		const struct device_reduce *reduce =
			&of->model->device_reduces.row[bounds->first_reduce + i];

		ok = add_reduce(making, row->first_reduce, reduce->stream, reduce->start_ns,
				reduce->end_ns);
	}
	while (*next < of->count && task_at(of, *next)->start_ns < row->fp_start_ns)
		(*next)++;
	for (; !bounds->reduce_count && *next < of->count && ok &&
	       task_at(of, *next)->start_ns < row->end_ns;
	     (*next)++) {
		const struct device_task *task = task_at(of, *next);

		if (device_task_counts(task) &&
		    task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION)
			ok = add_reduce(making, row->first_reduce, task->stream, task->start_ns,
					task->end_ns);
	}
	row->reduce_count = making->reduces.count - row->first_reduce;
	if (row->reduce_count)
		qsort(making->reduces.row + row->first_reduce, row->reduce_count,
		      sizeof(struct step_reduce), by_stream);
	return ok;
}

static struct device_step_row row_of(const struct step_bounds *bounds,
				     const struct step_bounds *before)
{
	struct device_step_row row = { .number = bounds->number,
				       .host_ns = bounds->host_ns,
				       .start_ns = before ? before->end_ns : bounds->begin_ns,
				       .fp_start_ns = bounds->fp_start_ns,
				       .bp_end_ns = bounds->bp_end_ns,
				       .end_ns = bounds->end_ns,
				       .first = !before };

	/* A step that began before the previous step had ended overlaps with it. */
	if (row.start_ns > row.end_ns)
		row.start_ns = bounds->begin_ns;
	row.gap_ns = (int64_t)(row.fp_start_ns - row.start_ns);
	if (row.bp_end_ns) {
		row.fp_bp_ns = (int64_t)(row.bp_end_ns - row.fp_start_ns);
		row.tail_ns = (int64_t)(row.end_ns - row.bp_end_ns);
	}
	return row;
}

static int add_rows(struct making *making, struct device_step_trace *trace)
{
	const struct step_finding *finding = &making->finding;
	struct analysis_window window = analysis_window(making->of.model, making->of.options);
	uint32_t next = 0;

	trace->rows = calloc((size_t)finding->steps.count + 1, sizeof(*trace->rows));
	if (!trace->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < finding->steps.count; i++) {
		const struct step_bounds *bounds = &finding->steps.row[i];
		struct device_step_row row = row_of(bounds, i ? bounds - 1 : NULL);

		if (!analysis_has(bounds->fp_start_ns, &window))
			continue;
		row.busy_ns = busy_between(&making->busy, row.start_ns, row.end_ns);
		if (!add_reduces(making, bounds, &row, &next))
			return -ENOMEM;
		trace->rows[trace->count++] = row;
	}
	return 0;
}

static bool in_means(const struct device_step_trace *trace, const struct device_step_row *row)
{
	return !row->first || trace->count == 1;
}

static void sum_means(struct device_step_trace *trace)
{
	struct device_step_means *means = &trace->means;

	for (uint32_t i = 0; i < trace->count; i++) {
		const struct device_step_row *row = &trace->rows[i];

		if (!in_means(trace, row))
			continue;
		means->steps++;
		means->duration_ns += (double)(row->end_ns - row->start_ns);
		means->gap_ns += (double)row->gap_ns;
		means->busy_ns += (double)row->busy_ns;
		if (!row->bp_end_ns)
			continue;
		means->bp_steps++;
		means->fp_bp_ns += (double)row->fp_bp_ns;
		means->tail_ns += (double)row->tail_ns;
	}
	if (means->steps) {
		means->duration_ns /= means->steps;
		means->gap_ns /= means->steps;
		means->busy_ns /= means->steps;
	}
	if (means->bp_steps) {
		means->fp_bp_ns /= means->bp_steps;
		means->tail_ns /= means->bp_steps;
	}
}

/* Sums collectives of the steps in the means, by stream. */
static int sum_reduces(struct making *making, struct device_step_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++) {
		const struct device_step_row *row = &trace->rows[i];

		for (uint32_t k = 0; k < row->reduce_count && in_means(trace, row); k++) {
			if (!MODEL_PUSH(&making->mean_reduces,
					making->reduces.row[row->first_reduce + k]))
				return -ENOMEM;
		}
	}
	if (making->mean_reduces.count)
		qsort(making->mean_reduces.row, making->mean_reduces.count,
		      sizeof(struct step_reduce), by_stream);
	for (uint32_t i = 0; i < making->mean_reduces.count; i++) {
		const struct step_reduce *reduce = &making->mean_reduces.row[i];
		struct step_reduce *last =
			trace->mean_reduce_count
				? &making->mean_reduces.row[trace->mean_reduce_count - 1]
				: NULL;

		if (last && last->stream == reduce->stream) {
			last->total_ns += reduce->total_ns;
			last->count += reduce->count;
		} else {
			making->mean_reduces.row[trace->mean_reduce_count++] = *reduce;
		}
	}
	return 0;
}

static int make_trace(struct making *making, struct device_step_results *results)
{
	struct device_step_trace *trace;
	int err = device_step_find(&making->of, &making->finding);

	if (err || !making->finding.steps.count)
		return err;
	if (making->finding.source == STEPS_REPETITION)
		trace = &results->repetitions[results->repetition_count++];
	else
		trace = &results->traces[results->count++];
	*trace = (struct device_step_trace){ .device = making->of.device,
					     .source = making->finding.source,
					     .evidence = making->finding.evidence,
					     .confidence = making->finding.confidence,
					     .fp_name = making->finding.fp_name };
	err = unite_busy(making);
	if (!err)
		err = add_rows(making, trace);
	sum_means(trace);
	if (!err)
		err = sum_reduces(making, trace);
	trace->reduces = making->reduces.row;
	trace->reduce_count = making->reduces.count;
	trace->mean_reduces = making->mean_reduces.row;
	making->reduces.row = NULL;
	making->mean_reduces.row = NULL;
	return err;
}

static int add_device(const struct device_tasks *of, struct device_step_results *results)
{
	struct making making = { .of = *of };
	int err = make_trace(&making, results);

	free(making.finding.steps.row);
	free(making.reduces.row);
	free(making.mean_reduces.row);
	intervals_free(&making.busy);
	return err;
}

/* A device may have steps, by its file, without tasks. */
static struct device_tasks tasks_of(const struct model *model, uint32_t device, uint32_t *row)
{
	struct device_tasks of = { .model = model, .device = device };

	while (*row < model->tasks.count && model->tasks.row[*row].device < device)
		(*row)++;
	of.first = *row;
	if (*row < model->tasks.count && model->tasks.row[*row].device == device)
		*row = model_device_end(model, *row);
	of.count = *row - of.first;
	return of;
}

int device_steps_analyse(const struct model *model, const struct analysis_options *options,
			 const struct step_results *trainer, struct device_step_results *results)
{
	uint32_t row = 0;
	int err = 0;

	*results = (struct device_step_results){ .main = INDEX_NONE };
	results->traces = calloc((size_t)model->devices.count + 1, sizeof(*results->traces));
	results->repetitions =
		calloc((size_t)model->devices.count + 1, sizeof(*results->repetitions));
	if (!results->traces || !results->repetitions)
		return -ENOMEM;
	err = host_loops_find(model, options, &results->loops);
	for (uint32_t i = 0; i < model->devices.count && !err; i++) {
		struct device_tasks of = tasks_of(model, i, &row);

		of.options = options;
		of.trainer = trainer;
		of.loops = &results->loops;
		if (analysis_wants_process(model, options, model->devices.row[i].process))
			err = add_device(&of, results);
	}
	for (uint32_t i = 0; i < results->count; i++) {
		if (results->traces[i].count &&
		    (results->main == INDEX_NONE ||
		     results->traces[i].count > results->traces[results->main].count))
			results->main = i;
	}
	return err;
}

static void free_traces(struct device_step_trace *traces, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(traces[i].rows);
		free(traces[i].reduces);
		free(traces[i].mean_reduces);
	}
	free(traces);
}

void device_steps_free(struct device_step_results *results)
{
	free_traces(results->traces, results->count);
	free_traces(results->repetitions, results->repetition_count);
	host_loops_free(&results->loops);
	*results = (struct device_step_results){ 0 };
}
