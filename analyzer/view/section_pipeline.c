/* SPDX-License-Identifier: Apache-2.0 */
/* Data pipelines: operators, queues, and the trainer's waits. */
#include <inttypes.h>

#include "analyzer/analyse/idle/idle.h"
#include "analyzer/analyse/idle/stage_waits.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/pipeline_operators_view.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define NAME_SIZE 128

/* If the framework is unknown, fetches are sleeps. */
#define FETCH_COLUMNS(COLUMN)                                                                    \
	COLUMN(sleeps, COUNT, "sleeps", "sleeps that an operator's thread ended",                \
	       cell_known(row->pipeline->by_wakes, row->fetch.fetches))                          \
	COLUMN(count, COUNT, "count", "batches fetched",                                         \
	       cell_known(!row->pipeline->by_wakes, row->fetch.fetches))                         \
	COLUMN(ends_of_data, COUNT, "ends of data", "fetches that got the end of the data",      \
	       cell_known(!row->pipeline->by_wakes, row->fetch.ends))                            \
	COLUMN(wait_ns, NS, "wait", "time inside", cell_u64(row->fetch.wait_ns))                 \
	COLUMN(max_ns, SHORT_NS, "max", "the longest", cell_u64(row->fetch.max_ns))              \
	COLUMN(start_ns, INSTANT, "start", "of the first", cell_not_0(row->fetch.first_ns))      \
	COLUMN(duration_ns, NS, "duration", "from there to the end of the last",                 \
	       cell_known(row->fetch.first_ns, row->fetch.last_ns - row->fetch.first_ns))

DEFINE_NEXT(next_pipeline, at->of->results->pipelines, rows, count)
DEFINE_FIGURES(fetches, struct pipeline_usage, FETCH_COLUMNS, next_pipeline);

static const struct view FETCHES = { "fetches", NULL, &fetches, NULL, VIEW_ONE };

#define PIPELINE (((const struct pipeline_usage *)at->outer)->pipeline)

/* Selects the row of the pipeline; there is one for each. */
static void of_pipeline(struct table_cursor *at, const struct table_cursor *outer)
{
	at->i = outer->index;
	at->outer = outer->row;
}

#define BOTTLENECK_COLUMNS(COLUMN)                                                                \
	COLUMN(id, STATUS, "id", "the operator's",                                                \
	       cell_i64(PIPELINE->operators.row[row->op].id))                                     \
	COLUMN(name, TEXT, "name", "the operator's",                                              \
	       cell_string(model, PIPELINE->operators.row[row->op].name))                         \
	COLUMN(kind, TEXT, "kind", "the reason", cell_text(bottleneck_name(row->kind)))           \
	COLUMN(percent, PERCENT, "of steps", "share of the steps' time", cell_real(row->percent)) \
	COLUMN(reason, TEXT, "reason", "with figures", cell_text(row->reason))

DEFINE_NEXT(next_bottleneck, at->of->results->advice, bottlenecks, count)
DEFINE_FIGURES(bottlenecks, struct bottleneck, BOTTLENECK_COLUMNS, next_bottleneck);

static const struct bottleneck *bottleneck_of(const struct table_data *of, uint64_t pipeline)
{
	const struct advice_results *advice = of->results->advice;

	return advice ? &advice->bottlenecks[pipeline] : NULL;
}

static bool has_bottleneck(const struct table_cursor *outer)
{
	const struct bottleneck *bottleneck = bottleneck_of(outer->of, outer->index);

	return bottleneck && bottleneck->kind != BOTTLENECK_NONE;
}

static const struct view BOTTLENECK = { "bottleneck", NULL,		      &bottlenecks, NULL,
					VIEW_ONE,     .within = of_pipeline, .known = has_bottleneck };

/* Selects an array that belongs to a pipeline. */
static void inside_pipeline(struct table_cursor *at, const struct table_cursor *outer)
{
	at->outer = outer->row;
}

#define NOTE_COLUMNS(COLUMN)                                                                   \
	COLUMN(note, TEXT, "note", "what could not be determined, and why", cell_string(model, \
	       *row))

static bool next_note(struct table_cursor *at)
{
	return CURSOR_ROWS(at, PIPELINE->notes);
}

DEFINE_FIGURES(notes, uint32_t, NOTE_COLUMNS, next_note);

static const struct view_column NOTE_SHOWN[] = { { "note", .how = VIEW_EMPTY }, { NULL } };

static const struct view NOTES = { "notes",   NULL,		    &notes, NOTE_SHOWN,
				   VIEW_LIST, .within = inside_pipeline };

/* Returns a number that distinguishes the pipelines of one process. */
static uint32_t number_in_process(const struct pipeline_results *pipelines, uint64_t row)
{
	uint32_t number = 0;

	for (uint64_t i = 0; i < row; i++)
		number += pipelines->rows[i].pipeline->process ==
			  pipelines->rows[row].pipeline->process;
	return number;
}

static struct cell no_bottleneck(const struct table_cursor *at)
{
	const struct bottleneck *bottleneck = bottleneck_of(at->of, at->index);

	return bottleneck && bottleneck->kind == BOTTLENECK_NONE ? cell_text(bottleneck->reason) :
								   cell_none();
}

#define PIPELINE_COLUMNS(COLUMN)                                                                \
	COLUMN(framework, TEXT, "framework", "what it is made with",                            \
	       cell_text(row->pipeline->framework))                                             \
	COLUMN(id, COUNT, "id", "its number in the process",                                    \
	       cell_u64(number_in_process(of->results->pipelines, at->index)))                  \
	COLUMN(process, ROW, "process", "whom it feeds: a row of processes",                    \
	       cell_index(row->pipeline->process))                                              \
	COLUMN(no_bottleneck, TEXT, "no bottleneck", "why there is none", no_bottleneck(at))

DEFINE_FIGURES(pipelines, struct pipeline_usage, PIPELINE_COLUMNS, next_pipeline);

static const struct view_column PIPELINE_SHOWN[] = {
	{ "framework" }, { "id" }, { "process.pid" }, { "no_bottleneck" }, { NULL },
};

static const struct view PIPELINES = {
	"pipeline", NULL, &pipelines, PIPELINE_SHOWN,
	.inside = { &FETCHES, &pipeline_operators_view, &BOTTLENECK, &NOTES },
};

/* ---- Text */

/* Names the thread that fetches. */
static const char *fetcher(const struct pipeline *pipeline)
{
	for (uint32_t i = 0; i < pipeline->queues.count; i++)
		if (pipeline->queues.row[i].to_device)
			return "the operator that feeds the device";
	return "the trainer";
}

static void print_fetches(FILE *out, const struct model *model, const struct pipeline_usage *usage)
{
	const struct pipeline *pipeline = usage->pipeline;
	const struct process *process = &model->processes.row[pipeline->process];
	const struct fetch_usage *fetch = &usage->fetch;
	char name[NAME_SIZE];

	fprintf(out, "%s of process %u %s: ",
		pipeline->by_wakes ? "unknown pipeline" : pipeline->framework, process->pid,
		printable(model_text(model, process->name), name, sizeof(name)));
	if (fetch->fetches + fetch->ends == 0) {
		fprintf(out, "%s fetched nothing\n", fetcher(pipeline));
		return;
	}
	if (pipeline->by_wakes) {
		fprintf(out,
			"%s slept %" PRIu64 " times until one of these woke it, %.3f ms in all, %.3f ms at most\n",
			pipeline->of_main ? "its main thread" :
					    "the threads that submit to the device",
			fetch->fetches, (double)fetch->wait_ns / 1e6, (double)fetch->max_ns / 1e6);
		return;
	}
	fprintf(out, "%s fetched %" PRIu64 " batches", fetcher(pipeline), fetch->fetches);
	if (fetch->ends)
		fprintf(out, " and %" PRIu64 " times the end of the data", fetch->ends);
	fprintf(out, ", in %.3f s; it waited for them %.3f ms in all (%.1f %%), %.3f ms at most\n",
		(double)(fetch->last_ns - fetch->first_ns) / 1e9, (double)fetch->wait_ns / 1e6,
		fetch->last_ns > fetch->first_ns
			? 100 * (double)fetch->wait_ns / (double)(fetch->last_ns - fetch->first_ns)
			: 0,
		(double)fetch->max_ns / 1e6);
}

static void print_bottleneck(FILE *out, const struct model *model, const struct pipeline *pipeline,
			     const struct bottleneck *bottleneck)
{
	char name[NAME_SIZE];

	if (bottleneck->kind == BOTTLENECK_NONE)
		fprintf(out, "bottleneck: none; %s\n", bottleneck->reason);
	else
		fprintf(out, "bottleneck: %s; %s\n",
			printable(model_text(model, pipeline->operators.row[bottleneck->op].name),
				  name, sizeof(name)),
			bottleneck->reason);
}

/* "decode holds it up for 62.0 % of the time; sleep, train.py:30 decode" */
static void print_stages(const struct report *report, const struct table_cursor *of)
{
	const struct pipeline *pipeline = ((const struct pipeline_usage *)of->row)->pipeline;
	char name[NAME_SIZE], place[256];

	for (uint32_t op = 0; op < pipeline->operators.count; op++) {
		struct stage_wait wait =
			stage_wait_find(report->results->verdict, pipeline, op);

		if (wait.percent < VERDICT_NOISE_PERCENT)
			continue;
		pipeline_stage_place(of->of, &wait, place, sizeof(place));
		fprintf(report->out, "%s holds it up for %.1f %% of the time; %s%s%s\n",
			printable(model_text(report->model, pipeline->operators.row[op].name), name,
				  sizeof(name)),
			wait.percent, idle_cause_name(wait.cause), *place ? ", " : "", place);
	}
}

static int print_operators(const struct report *report, const struct table_cursor *of)
{
	const struct pipeline_usage *usage = of->row;
	uint32_t count = usage->pipeline->operators.count, shown = rows_shown(report->options, count);
	bool estimated = false;
	int err;

	if (count == 0) {
		fputs("its operators are not known\n", report->out);
		return 0;
	}
	err = view_text_of(report, &pipeline_operators_view, of, NULL);
	for (uint32_t i = 0; i < shown; i++)
		estimated |= usage->operators[usage->order[i]].estimated;
	if (estimated)
		fputs("~: what its thread did between its waits; its work itself is not recorded\n",
		      report->out);
	return err;
}

static int print_pipeline(const struct report *report, const struct table_cursor *of)
{
	const struct pipeline_usage *usage = of->row;
	const struct bottleneck *bottleneck = bottleneck_of(of->of, of->index);
	int err;

	print_fetches(report->out, report->model, usage);
	for (uint32_t i = 0; i < usage->pipeline->notes.count; i++)
		fprintf(report->out, "%s\n",
			model_text(report->model, usage->pipeline->notes.row[i]));
	err = print_operators(report, of);
	if (err)
		return err;
	if (usage->pipeline->by_wakes)
		print_stages(report, of);
	else if (bottleneck)
		print_bottleneck(report->out, report->model, usage->pipeline, bottleneck);
	return 0;
}

static int pipeline_text(const struct report *report)
{
	struct table_cursor at;

	if (!view_count(report, &PIPELINES, NULL))
		return 0;
	print_heading(report->out, report->options, "Data pipeline");
	view_begin(report, &PIPELINES, NULL, &at);
	while (view_next(&PIPELINES, NULL, &at)) {
		int err;

		if (at.index)
			fputc('\n', report->out);
		err = print_pipeline(report, &at);
		if (err)
			return err;
	}
	fputs("queue: elements in its output queue, mean over time; waits are those of its own "
	      "threads\n",
	      report->out);
	return 0;
}

const struct section section_pipeline = { pipeline_text, NULL, VIEWS(&PIPELINES) };
