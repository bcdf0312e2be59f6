/* SPDX-License-Identifier: Apache-2.0 */
/* Data pipelines: operators, queues, and what the trainer waits for. */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/analyse/idle/idle.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/analyse/idle/stage_waits.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/render/table.h"

#define NAME_SIZE 128
#define INDENT_MAX 24

/* Who fetches. */
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
			"%s slept %" PRIu64
			" times until one of these ended it, %.3f ms in all, %.3f ms at most\n",
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

static void headings(struct table *table)
{
	table_column(table, "operator", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "workers", TABLE_RIGHT);
	table_column(table, "threads", TABLE_RIGHT);
	table_column(table, "CPU %", TABLE_RIGHT);
	table_column(table, "with descendants", TABLE_RIGHT);
	table_column(table, "elements", TABLE_RIGHT);
	table_column(table, "us each", TABLE_RIGHT);
	table_column(table, "waits for input ms", TABLE_RIGHT);
	table_column(table, "for room ms", TABLE_RIGHT);
	table_column(table, "queue", TABLE_RIGHT);
	table_column(table, "of", TABLE_RIGHT);
	table_column(table, "empty %", TABLE_RIGHT);
	table_column(table, "full %", TABLE_RIGHT);
}

static void queue_cells(struct table *table, const struct pipeline_usage *usage, uint32_t queue)
{
	const struct queue_usage *of;
	uint32_t capacity;

	if (queue == INDEX_NONE) {
		for (int i = 0; i < 4; i++)
			table_empty(table);
		return;
	}
	of = &usage->queues[queue];
	capacity = usage->pipeline->queues.row[queue].capacity;
	if (of->known)
		table_format(table, "%.1f", of->mean_size);
	else
		table_unknown(table);
	if (capacity)
		table_count(table, capacity);
	else
		table_unknown(table);
	if (of->known)
		table_percent(table, 100 * (double)of->empty_ns / (double)of->observed_ns);
	else
		table_unknown(table);
	if (of->known && capacity)
		table_percent(table, 100 * (double)of->full_ns / (double)of->observed_ns);
	else
		table_unknown(table);
}

static void operator_row(struct table *table, const struct model *model,
			 const struct pipeline_usage *usage, uint32_t i)
{
	const struct pipeline_operator *op = &usage->pipeline->operators.row[i];
	const struct operator_pipeline_usage *of = &usage->operators[i];
	int indent = of->depth < INDENT_MAX / 2 ? 2 * (int)of->depth : INDENT_MAX;
	char name[NAME_SIZE];

	table_row(table);
	table_format(table, "%*s%s", indent, "",
		     printable(model_text(model, op->name), name, sizeof(name)));
	if (op->in_trainer)
		table_text(table, "trainer");
	else if (op->workers)
		table_count(table, op->workers);
	else
		table_unknown(table);
	if (op->in_trainer)
		table_empty(table);
	else if (usage->pipeline->sampled)
		table_unknown(table);
	else
		table_count(table, of->own_threads + of->descendants);
	for (int all = 0; all < 2; all++) {
		if (op->in_trainer)
			table_empty(table);
		else if (of->has_times)
			table_percent(table, all ? of->all_utilization : of->utilization);
		else
			table_unknown(table);
	}
	if (of->has_elements)
		table_count(table, of->elements);
	else
		table_unknown(table);
	if (of->has_element_ns)
		table_format(table, "%s%.1f", of->estimated ? "~" : "", of->element_ns / 1e3);
	else
		table_empty(table);
	for (int output = 0; output < 2; output++) {
		if (usage->pipeline->sampled)
			table_unknown(table);
		else
			table_ms(table, output ? of->output_wait_ns : of->input_wait_ns);
	}
	queue_cells(table, usage, of->queue);
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

/* "decode: 62.0 % of the waiting time ends there; sleep, train.py:30 decode" */
static int print_stages(FILE *out, const struct model *model, const struct results *results,
			const struct pipeline *pipeline)
{
	struct syscall_table *syscalls = syscall_table_new(model_text(model, model->info.arch));
	char name[NAME_SIZE], place[256];

	if (!syscalls)
		return -ENOMEM;
	for (uint32_t op = 0; op < pipeline->operators.count; op++) {
		struct stage_wait wait = stage_wait_find(results->verdict, pipeline, op);

		if (wait.percent < VERDICT_NOISE_PERCENT)
			continue;
		*place = '\0';
		if (wait.placed)
			root_place_text(model, syscalls, &wait.placed->root, place, sizeof(place));
		fprintf(out, "%s holds it up for %.1f %% of the time; %s%s%s\n",
			printable(model_text(model, pipeline->operators.row[op].name), name,
				  sizeof(name)),
			wait.percent, idle_cause_name(wait.cause), *place ? ", " : "",
			place);
	}
	syscall_table_free(syscalls);
	return 0;
}

static int print_pipeline(FILE *out, const struct model *model, const struct pipeline_usage *usage,
			  const struct report_options *options)
{
	uint32_t count = usage->pipeline->operators.count, shown = rows_shown(options, count);
	struct table *table;
	bool estimated = false;
	int err;

	print_fetches(out, model, usage);
	for (uint32_t i = 0; i < usage->pipeline->notes.count; i++)
		fprintf(out, "%s\n", model_text(model, usage->pipeline->notes.row[i]));
	if (count == 0) {
		fputs("its operators are not known\n", out);
		return 0;
	}
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	headings(table);
	for (uint32_t i = 0; i < shown; i++) {
		operator_row(table, model, usage, usage->order[i]);
		estimated |= usage->operators[usage->order[i]].estimated;
	}
	err = table_print(table, out);
	table_free(table);
	text_more(out, "operators", count, shown);
	if (estimated)
		fputs("~: what its thread did between its waits; its work itself is not seen\n",
		      out);
	return err;
}

int text_pipeline(FILE *out, const struct model *model, const struct results *results,
		  const struct report_options *options)
{
	const struct pipeline_results *pipelines = results->pipelines;

	if (!pipelines || !pipelines->count)
		return 0;
	print_heading(out, options, "Data pipeline");
	for (uint32_t i = 0; i < pipelines->count; i++) {
		int err;

		if (i)
			fputc('\n', out);
		err = print_pipeline(out, model, &pipelines->rows[i], options);
		if (err)
			return err;
		if (pipelines->rows[i].pipeline->by_wakes)
			err = print_stages(out, model, results, pipelines->rows[i].pipeline);
		if (err)
			return err;
		if (results->advice && !pipelines->rows[i].pipeline->by_wakes)
			print_bottleneck(out, model, pipelines->rows[i].pipeline,
					 &results->advice->bottlenecks[i]);
	}
	fputs("queue: elements in its output queue, mean over time; waits are those of its own "
	      "threads\n",
	      out);
	return 0;
}
