/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps: of the trainer that a data pipeline feeds, and of the devices. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/idle/step_outliers.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/alike.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"
#include "analyzer/view/step_times.h"

/* ---- Steps of the trainer */

static const struct pipeline_steps *trainer_of(const struct results *results)
{
	const struct step_results *steps = results->steps;

	return steps && steps->main != INDEX_NONE ? &steps->pipelines[steps->main] : NULL;
}

static void of_main_trainer(struct table_cursor *at, const struct table_cursor *outer)
{
	at->i = at->of->results->steps->main;
	at->limit = at->i + 1;
}

/* Percentiles of the listed steps: @times is evaluated for each column. */
#define PERCENTILES(COLUMN, times)                                                    \
	COLUMN(p50_ns, NS, "median", "of the durations of the steps listed",          \
	       cell_known(times.has_p50, times.p50_ns))                               \
	COLUMN(p99_ns, NS, "p99", "their 99th percentile, by nearest rank",           \
	       cell_known(times.has_p99, times.p99_ns))

#define STEP_FIGURES(COLUMN)                                             \
	COLUMN(rest_ns, NS, "rest", "time in which the batch was there", \
	       cell_u64(row->duration_ns - row->data_wait_ns))

DEFINE_FIGURES(step_figures, struct step, STEP_FIGURES, NULL);

static const struct view_column STEP_COLUMNS[] = {
	{ "step", "index" },
	{ "start_ns" },
	{ "duration_ns" },
	{ "data_wait_ns" },
	{ "rest_ns", "host_ns" },
	{ "bounded_by", .how = VIEW_SHRINK | VIEW_BLANK },
	{ NULL },
};

static const struct view MAIN_STEPS;

static const struct view STEPS = { "rows",
				   "steps",
				   &table_steps,
				   STEP_COLUMNS,
				   .figures = &step_figures,
				   .within = of_main_trainer,
				   .instead = &MAIN_STEPS };

#define TRAINER_COLUMNS(COLUMN)                                                           \
	COLUMN(source, TEXT, "source", "how the steps are known", cell_text("marker"))    \
	COLUMN(confidence_percent, REAL, "confidence", "how sure that is", cell_u64(100)) \
	COLUMN(framework, TEXT, "framework", "whose pipeline feeds it",                   \
	       cell_text(row->usage->pipeline->framework))                                \
	COLUMN(pid, NUMBER, "pid", "the trainer's process id",                            \
	       cell_u64(model->processes.row[row->usage->pipeline->process].pid))         \
	PERCENTILES(COLUMN, trainer_step_times(row))                                      \
	COLUMN(data_wait_percent, REAL, "data wait", "share of the steps' time in fetches", \
	       cell_real(trainer_data_wait(row)))

static bool next_trainer(struct table_cursor *at)
{
	const struct pipeline_steps *trainer = trainer_of(at->of->results);

	return trainer && cursor_rows(at, trainer, 1, sizeof(*trainer));
}

DEFINE_FIGURES(trainers, struct pipeline_steps, TRAINER_COLUMNS, next_trainer);

static const struct view TRAINER = { .table = &trainers, .shape = VIEW_ONE, .inside = { &STEPS } };

/* ---- Steps of the devices */

static uint64_t reduce_ns(const struct device_step_trace *trace, const struct device_step_row *row)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < row->reduce_count; i++)
		ns += trace->reduces[row->first_reduce + i].total_ns;
	return ns;
}

#define DEVICE_STEP_FIGURES(COLUMN)                                                               \
	COLUMN(duration_ns, NS, "duration", "of the step", cell_u64(row->end_ns - row->start_ns)) \
	COLUMN(device_idle_ns, NS, "device idle", "of it, in which the device was not busy",      \
	       cell_u64(row->end_ns - row->start_ns - row->busy_ns))                              \
	COLUMN(collectives_ns, NS, "collectives", "sum of its collectives' times",                \
	       cell_u64(reduce_ns(at->outer, row)))

DEFINE_FIGURES(device_step_figures, struct device_step_row, DEVICE_STEP_FIGURES, NULL);

#define REDUCE_FIGURES(COLUMN)                                                          \
	COLUMN(duration_ns, NS, "duration", "from the first's begin to the last's end", \
	       cell_u64(row->end_ns - row->start_ns))

DEFINE_FIGURES(reduce_figures, struct step_reduce, REDUCE_FIGURES, NULL);

/* A cursor at a row of an inner array has already counted that row. */
static void of_step(struct table_cursor *at, const struct table_cursor *step)
{
	at->i = step->i;
	at->limit = step->i + 1;
	at->k = step->k - 1;
	at->inner_limit = step->k;
}

static const struct view_column REDUCE_COLUMNS[] = {
	{ "stream" }, { "count" }, { "start_ns" }, { "duration_ns" }, { "total_ns" }, { NULL },
};

static const struct view REDUCES = { "all_reduce",
				     NULL,
				     &table_device_step_reduces,
				     REDUCE_COLUMNS,
				     .figures = &reduce_figures,
				     .within = of_step };

#define STEP_TIMES                                                                           \
	{ "step", "index" }, { "start_ns" }, { "duration_ns" }, { "iteration_interval_ns" }, \
		{ "fp_bp_ns" }, { "tail_ns" }, { "collectives_ns", .how = VIEW_TEXT },       \
		{ "device_busy_ns" },                                                        \
	{                                                                                    \
		"device_idle_ns", .how = VIEW_JSON                                           \
	}

static const struct view_column DEVICE_STEP_COLUMNS[] = {
	STEP_TIMES,
	{ "host_start_ns", .how = VIEW_JSON },
	{ "fp_start_ns", .how = VIEW_JSON },
	{ "bp_end_ns", .how = VIEW_JSON },
	{ NULL },
};

static const struct view DEVICE_STEPS = { "rows",
					  "steps",
					  &table_device_steps,
					  DEVICE_STEP_COLUMNS,
					  .figures = &device_step_figures,
					  .inside = { &REDUCES } };

/* If no trainer is known, the steps of the device with most steps replace its steps. */
static const struct view_column MAIN_STEP_COLUMNS[] = { STEP_TIMES, { NULL } };

static const struct view MAIN_STEPS = { "rows", NULL, &table_device_steps, MAIN_STEP_COLUMNS,
					.figures = &device_step_figures };

#define MEANS (row->means)
#define HAS_GAP (!row->rows[0].first || row->count > 1)

#define MEAN_COLUMNS(COLUMN)                                                              \
	COLUMN(steps, COUNT, "steps", "steps that have a part", cell_u64(MEANS.steps))    \
	COLUMN(duration_ns, NS, "duration", "mean", cell_i64(llround(MEANS.duration_ns))) \
	COLUMN(iteration_interval_ns, NS, "gap", "mean",                                  \
	       cell_known_i64(HAS_GAP, llround(MEANS.gap_ns)))                            \
	COLUMN(fp_bp_ns, NS, "fp+bp", "mean",                                             \
	       cell_known_i64(MEANS.bp_steps, llround(MEANS.fp_bp_ns)))                   \
	COLUMN(tail_ns, NS, "tail", "mean",                                               \
	       cell_known_i64(MEANS.bp_steps, llround(MEANS.tail_ns)))                    \
	COLUMN(device_busy_ns, NS, "device busy", "mean",                                 \
	       cell_known_i64(!model->devices.row[row->device].whole, llround(MEANS.busy_ns)))

static bool next_mean(struct table_cursor *at)
{
	const struct device_step_results *steps = at->of->results->device_steps;

	return cursor_rows(at, steps->traces, steps->count, sizeof(*steps->traces)) &&
	       steps->traces[at->index].means.steps;
}

DEFINE_FIGURES(means, struct device_step_trace, MEAN_COLUMNS, next_mean);

#define TRACE ((const struct device_step_trace *)at->outer)

#define MEAN_REDUCE_COLUMNS(COLUMN)                                              \
	COLUMN(stream, NUMBER, "stream", "where they ran", cell_id(row->stream)) \
	COLUMN(count, REAL, "collectives", "number in a step, mean of the steps",  \
	       cell_real((double)row->count / TRACE->means.steps))               \
	COLUMN(total_ns, NS, "total", "their sum in a step, mean of the steps",  \
	       cell_i64(llround((double)row->total_ns / TRACE->means.steps)))

static bool next_mean_reduce(struct table_cursor *at)
{
	const struct device_step_results *steps = at->of->results->device_steps;

	CURSOR_OUTER(at, steps->count)
	{
		const struct device_step_trace *trace = &steps->traces[at->i];

		if (cursor_inner(at, trace, trace->mean_reduces, trace->mean_reduce_count,
				 sizeof(*trace->mean_reduces)))
			return true;
	}
	return false;
}

DEFINE_FIGURES(mean_reduces, struct step_reduce, MEAN_REDUCE_COLUMNS, next_mean_reduce);

static const struct view MEAN_REDUCES = { "all_reduce", NULL, &mean_reduces };

static const struct view MEAN = {
	"mean", NULL, &means, NULL, VIEW_ONE, .inside = { &MEAN_REDUCES }
};

static const char *source_text(struct table_cursor *at, const struct device_step_trace *trace)
{
	step_source_text(trace->source, trace->evidence, at->text[0], sizeof(at->text[0]));
	return at->text[0];
}

#define TRACE_COLUMNS(COLUMN)                                                         \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))      \
	COLUMN(source, TEXT, "source", "how the steps are known",                     \
	       cell_text(step_source_name(row->source)))                              \
	COLUMN(confidence_percent, REAL, "confidence", "how sure that is",            \
	       cell_real(row->confidence))                                            \
	COLUMN(known_from, TEXT, "known from", "the same in words",                   \
	       cell_text(source_text(at, row)))                                       \
	COLUMN(fp_point, TEXT, "begins with", "the operator that a step begins with", \
	       cell_string(model, row->fp_name))                                      \
	PERCENTILES(COLUMN, device_step_times(row))

DEFINE_NEXT(next_trace, at->of->results->device_steps, traces, count)

DEFINE_FIGURES(traces, struct device_step_trace, TRACE_COLUMNS, next_trace);

static const struct view_column DEVICE_COLUMNS[] = {
	{ "device.id", "device" }, { "source" },   { "confidence_percent" },
	{ "known_from" },	   { "fp_point" }, { NULL },
};

static const struct view DEVICES = { "devices", NULL, &traces, DEVICE_COLUMNS,
				     .inside = { &MEAN, &DEVICE_STEPS } };

static const struct view_column MAIN_COLUMNS[] = {
	{ "source" }, { "confidence_percent" }, { "p50_ns" }, { "p99_ns" }, { NULL },
};

static void of_main_device(struct table_cursor *at, const struct table_cursor *outer)
{
	at->i = at->of->results->device_steps->main;
}

static const struct view MAIN_DEVICE = { NULL,
					 NULL,
					 &traces,
					 MAIN_COLUMNS,
					 VIEW_ONE,
					 .within = of_main_device,
					 .inside = { &MAIN_STEPS } };

/* ---- Steps of the host's loop, if there are none of a trainer or a device */

static const struct host_loops *loops_of(const struct results *results)
{
	return results->device_steps ? &results->device_steps->loops : NULL;
}

static const struct host_loop *main_loop(const struct results *results)
{
	const struct host_loops *loops = loops_of(results);

	return loops && loops->main != INDEX_NONE ? &loops->loops.row[loops->main] : NULL;
}

static void of_main_loop(struct table_cursor *at, const struct table_cursor *outer)
{
	at->i = loops_of(at->of->results)->main;
	at->limit = at->i + 1;
}

static bool in_main_loop(const struct table_cursor *at, const struct table_cursor *outer)
{
	return at->outer == main_loop(at->of->results);
}

static const struct view_column TURN_COLUMNS[] = {
	{ "step", "index" }, { "start_ns" }, { "duration_ns" }, { NULL }
};

static const struct view TURNS = { "rows",
				   "steps",
				   &table_host_steps,
				   TURN_COLUMNS,
				   .within = of_main_loop,
				   .where = in_main_loop };

#define LOOP_COLUMNS(COLUMN)                                                      \
	COLUMN(source, TEXT, "source", "how the steps are known",                 \
	       cell_text(row->evidence == LOOP_BY_MARKS ? "marker" : "inferred")) \
	COLUMN(confidence_percent, REAL, "confidence", "how sure that is",        \
	       cell_real(row->confidence))                                        \
	COLUMN(known_from, TEXT, "known from", "the same in words",               \
	       cell_text(loop_evidence_text(row->evidence)))                      \
	COLUMN(pid, NUMBER, "pid", "process id", cell_u64(model->processes.row[row->process].pid)) \
	PERCENTILES(COLUMN, loop_step_times(loops_of(at->of->results), row))

static bool next_loop(struct table_cursor *at)
{
	const struct host_loops *loops = loops_of(at->of->results);

	return loops && CURSOR_ROWS(at, loops->loops);
}

DEFINE_FIGURES(loops, struct host_loop, LOOP_COLUMNS, next_loop);

static const struct view LOOP = {
	.table = &loops, .shape = VIEW_ONE, .within = of_main_loop, .inside = { &TURNS }
};

/* ---- Repetitions that are not steps */

#define REPETITION_FIGURES(COLUMN)                                                        \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))          \
	COLUMN(count, COUNT, "times", "how often", cell_u64(row->count))                  \
	COLUMN(confidence_percent, REAL, "of the kernels", "percent that it explains",    \
	       cell_real(row->confidence))                                                \
	COLUMN(begins_with, TEXT, "begins with", "the operator that it begins with",      \
	       cell_string(model, row->fp_name))                                          \
	COLUMN(duration_ns, NS, "duration", "mean", cell_i64(llround(MEANS.duration_ns))) \
	COLUMN(device_busy_ns, NS, "device busy", "mean",                                 \
	       cell_known_i64(!model->devices.row[row->device].whole, llround(MEANS.busy_ns)))

DEFINE_NEXT(next_repetition, at->of->results->device_steps, repetitions, repetition_count)

DEFINE_FIGURES(repetition_figures, struct device_step_trace, REPETITION_FIGURES, next_repetition);

static const struct view_column REPETITION_COLUMNS[] = {
	{ "device.id", "device" },
	{ "count" },
	{ "confidence_percent" },
	{ "begins_with" },
	{ "duration_ns" },
	{ "device_busy_ns" },
	{ NULL },
};

static const struct view REPETITIONS = { "repetitions", "devices", &repetition_figures,
					 REPETITION_COLUMNS, .optional = true };

/* ---- Steps that took much longer than others */

static const struct view_column OUTLIER_COLUMNS[] = {
	{ "step", "index" },
	{ "start_ns" },
	{ "duration_ns" },
	{ "usual_ns", .how = VIEW_JSON },
	{ "cause" },
	{ "who", .how = VIEW_SHRINK },
	{ "thread.tid", "tid", .how = VIEW_JSON },
	{ "place", "where", .how = VIEW_SHRINK },
	{ "object", .how = VIEW_SHRINK | VIEW_BLANK },
	{ "ns" },
	{ "usual_cause_ns" },
	{ NULL },
};

static const struct view OUTLIERS = { "outliers", "such steps", &table_step_outliers,
				      OUTLIER_COLUMNS, .optional = true };

static int print_outliers(const struct report *report)
{
	const struct step_outliers *outliers = report->results->outliers;

	if (!outliers || !outliers->count)
		return 0;
	fprintf(report->out,
		"\n%u of %u steps took at least 1.5 times the median, %.3f ms%s; what was different in them:\n",
		outliers->found, outliers->steps, (double)outliers->median_ns / 1e6,
		outliers->found > outliers->count ? "; the longest" : "");
	return view_text(report, &OUTLIERS);
}

static bool has_device(const struct results *results)
{
	return results->device_steps && results->device_steps->main != INDEX_NONE;
}

static bool has_repetition(const struct results *results)
{
	return results->device_steps && results->device_steps->repetition_count;
}

static void steps_json(const struct report *report)
{
	const struct results *results = report->results;

	if (!trainer_of(results) && !has_device(results) && !main_loop(results) &&
	    !has_repetition(results))
		return;
	json_map(report->json, "steps");
	if (trainer_of(results))
		view_json(report, &TRAINER);
	else if (has_device(results))
		view_json(report, &MAIN_DEVICE);
	else if (main_loop(results))
		view_json(report, &LOOP);
	if (results->device_steps)
		view_json(report, &DEVICES);
	view_json(report, &REPETITIONS);
	view_json(report, &OUTLIERS);
	json_map_close(report->json);
}

/* ---- Text */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int print_medians(FILE *out, const struct pipeline_steps *steps)
{
	uint64_t *values = calloc((size_t)steps->count + 1, sizeof(*values)), wait_ns;

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < steps->count; i++)
		values[i] = steps->rows[i].data_wait_ns;
	qsort(values, steps->count, sizeof(*values), by_value);
	wait_ns = values[(steps->count - 1) / 2]; /* by nearest rank, as p50_ns */
	for (uint32_t i = 0; i < steps->count; i++)
		values[i] = steps->rows[i].duration_ns;
	qsort(values, steps->count, sizeof(*values), by_value);
	fprintf(out,
		"%u step%s, from one fetch of a batch to the next; median %.3f ms, of it %.3f ms "
		"waiting for data; longest %.3f ms\n",
		steps->count, plural_s(steps->count), (double)trainer_step_times(steps).p50_ns / 1e6, (double)wait_ns / 1e6,
		(double)values[steps->count - 1] / 1e6);
	free(values);
	return 0;
}

static int print_trainer(const struct report *report, const struct pipeline_steps *trainer)
{
	int err = print_medians(report->out, trainer);

	return err ? err : view_text(report, &STEPS);
}

static void signed_ms(struct table *table, bool known, double ns)
{
	if (known)
		table_format(table, "%.3f", ns / 1e6);
	else
		table_unknown(table);
}

static void add_mean(const struct report *report, struct table *table,
		     const struct table_cursor *outer)
{
	const struct device_step_trace *row = outer->row;
	uint64_t ns = 0;

	if (!MEANS.steps)
		return;
	for (uint32_t i = 0; i < row->mean_reduce_count; i++)
		ns += row->mean_reduces[i].total_ns;
	table_row(table);
	table_text(table, "mean");
	table_empty(table);
	signed_ms(table, true, MEANS.duration_ns);
	signed_ms(table, HAS_GAP, MEANS.gap_ns);
	signed_ms(table, MEANS.bp_steps > 0, MEANS.fp_bp_ns);
	signed_ms(table, MEANS.bp_steps > 0, MEANS.tail_ns);
	signed_ms(table, true, (double)ns / MEANS.steps);
	signed_ms(table, true, MEANS.busy_ns);
}

/* "Stream 3: 12.0 collectives and 4.200 ms a step". */
static void print_streams(FILE *out, const struct device_step_trace *trace)
{
	for (uint32_t i = 0; i < trace->mean_reduce_count; i++) {
		const struct step_reduce *reduce = &trace->mean_reduces[i];

		if (reduce->stream == MODEL_ID_NONE)
			fputs("Of no stream", out);
		else
			fprintf(out, "Stream %" PRIu64, reduce->stream);
		fprintf(out, ": %.1f collectives and %.3f ms of them a step\n",
			(double)reduce->count / trace->means.steps,
			(double)reduce->total_ns / trace->means.steps / 1e6);
	}
}

static int print_device(const struct report *report, const struct table_cursor *at)
{
	const struct model *model = report->model;
	const struct device_step_trace *trace = at->row;
	FILE *out = report->out;
	char name[128], known[128], words[DEVICE_WORDS];
	int err;

	step_source_text(trace->source, trace->evidence, known, sizeof(known));
	device_words(model, trace->device, words, sizeof(words));
	fprintf(out, "%s: %u step%s, known from %s", words, trace->count, plural_s(trace->count), known);
	if (trace->source == STEPS_HOST || trace->source == STEPS_DEVICE)
		fprintf(out, " (%.0f %% of the kernels)", trace->confidence);
	if (trace->fp_name)
		fprintf(out, "; they begin with %s",
			printable(model_text(model, trace->fp_name), name, sizeof(name)));
	fputs("\n", out);
	if (trace->means.steps && !(trace->count == 1 && trace->rows[0].first))
		fputs("The mean leaves out the first step.\n", out);
	err = view_text_of(report, &DEVICE_STEPS, at, add_mean);
	if (!err)
		print_streams(out, trace);
	return err;
}

static int print_loop(const struct report *report, const struct host_loop *loop)
{
	fprintf(report->out, "%u iterations of the loop of process %u, known from %s", loop->count,
		report->model->processes.row[loop->process].pid,
		loop_evidence_text(loop->evidence));
	if (loop->evidence != LOOP_BY_MARKS)
		fprintf(report->out, " (%.0f %% of its work)", loop->confidence);
	fputs("\n", report->out);
	return view_text(report, &TURNS);
}

/* Repetitions may be layers: the report concludes nothing from them. */
static int print_repetitions(const struct report *report)
{
	print_heading(report->out, report->options, "Repetitions on the devices");
	fputs("Kernels repeat, but nothing says that these are steps: there are no marks, fetches, "
	      "copies or an optimizer. "
	      "They may be layers. --fp-point names the operator that begins a step.\n",
	      report->out);
	return view_text(report, &REPETITIONS);
}

static int steps_text(const struct report *report)
{
	const struct pipeline_steps *trainer = trainer_of(report->results);
	const struct host_loop *loop = main_loop(report->results);
	struct table_cursor at;
	int err = 0;

	if (trainer || (loop && !has_device(report->results))) {
		print_heading(report->out, report->options, "Steps");
		err = trainer ? print_trainer(report, trainer) : print_loop(report, loop);
	}
	if (has_device(report->results)) {
		print_heading(report->out, report->options, "Steps of the devices");
		view_begin(report, &DEVICES, NULL, &at);
		while (!err && view_next(&DEVICES, NULL, &at))
			err = print_device(report, &at);
	}
	if (!err)
		err = print_outliers(report);
	if (!err && has_repetition(report->results))
		err = print_repetitions(report);
	return err;
}

const struct section section_steps = { steps_text, steps_json,
				       VIEWS(&TRAINER, &MAIN_DEVICE, &LOOP, &DEVICES, &REPETITIONS,
				     &OUTLIERS),
				       "steps" };
