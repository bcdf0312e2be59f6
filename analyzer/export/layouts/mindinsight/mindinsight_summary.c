/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a pipeline: figures of operators and queues, their judgement by MindInsight's thresholds,
 * and - as the bottleneck - this report's own verdict.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/view/render/json.h"
#include "analyzer/export/layouts/mindinsight/mindinsight.h"

/* Thresholds of MindSpore's MindData analysis, percent. */
#define WORKER_BUSY 75
#define WORKER_IDLE 20
#define LEAF_QUEUE_LOW 50
#define DEVICE_INPUT_EMPTY 60
#define QUEUE_DIFFERENCE 50

#define UNKNOWN (-1) /* value in MindSpore's files */
#define TEXT_SIZE 1200

/* An output file: both have named lists of numbers, texts or lists of numbers. */
struct sink {
	struct json *json; /* or */
	FILE *csv;
};

static void begin(const struct sink *sink, const char *key)
{
	if (sink->json)
		json_array(sink->json, key);
	else
		fputs(key, sink->csv);
}

static void end(const struct sink *sink)
{
	if (sink->json)
		json_array_close(sink->json);
	else
		fputs("\r\n", sink->csv);
}

static void put_integer(const struct sink *sink, int64_t value)
{
	if (sink->json)
		json_i64(sink->json, NULL, value);
	else
		fprintf(sink->csv, ",%" PRId64, value);
}

static void put_number(const struct sink *sink, double value)
{
	if (sink->json)
		json_decimal(sink->json, NULL, value);
	else
		fprintf(sink->csv, ",%.3f", value);
}

static void put_text(const struct sink *sink, const char *text)
{
	if (sink->json) {
		json_text(sink->json, NULL, text);
		return;
	}
	fputc(',', sink->csv);
	mindinsight_cell(sink->csv, text);
}

static void put_children(const struct sink *sink, const struct mindinsight *mi, uint32_t id)
{
	uint32_t count = 0;

	if (sink->json)
		json_array(sink->json, NULL);
	else
		fputs(",\"[", sink->csv);
	for (uint32_t child = 0; child < mi->count; child++) {
		if (mi->parent[child] != id)
			continue;
		if (sink->json)
			json_u64(sink->json, NULL, child);
		else
			fprintf(sink->csv, "%s%" PRIu32, count ? ", " : "", child);
		count++;
	}
	if (sink->json)
		json_array_close(sink->json);
	else
		fputs("]\"", sink->csv);
}

static double queue_mean(const struct mindinsight *mi, uint32_t id)
{
	uint32_t queue;

	return mindinsight_queue(mi, id, &queue) ? mi->usage->queues[queue].mean_size : UNKNOWN;
}

static double queue_used(const struct mindinsight *mi, uint32_t id)
{
	uint32_t queue;

	if (!mindinsight_queue(mi, id, &queue))
		return UNKNOWN;
	return 100 * mi->usage->queues[queue].mean_size /
	       mi->usage->pipeline->queues.row[queue].capacity;
}

static double queue_empty(const struct mindinsight *mi, uint32_t id)
{
	uint32_t queue;

	if (!mindinsight_queue(mi, id, &queue) || !mi->usage->queues[queue].observed_ns)
		return UNKNOWN;
	return 100 * (double)mi->usage->queues[queue].empty_ns /
	       (double)mi->usage->queues[queue].observed_ns;
}

/* Operators that run in the trainer have no threads of their own: MindSpore writes 0 for them. */
static double cpu_used(const struct mindinsight *mi, uint32_t id)
{
	const struct operator_pipeline_usage *of = &mi->usage->operators[mi->op[id]];

	if (mi->usage->pipeline->operators.row[mi->op[id]].in_trainer)
		return 0;
	return of->has_times ? of->all_utilization : UNKNOWN;
}

static double cpu_per_worker(const struct mindinsight *mi, uint32_t id)
{
	double cpu = cpu_used(mi, id);

	return cpu < 0 ? cpu : cpu / mindinsight_workers(mi, id);
}

static const char *label(const struct mindinsight *mi, uint32_t id, char *text, size_t size)
{
	snprintf(text, size, "%.80s(id=%" PRIu32 ")", mindinsight_type(mi, id), id);
	return text;
}

enum column { IDS, NAMES, LABELS, WORKERS, MEAN, USED, EMPTY, CHILDREN, PARENT, CPU, PER_WORKER };

static void put_cell(const struct sink *sink, const struct mindinsight *mi, enum column column,
		     uint32_t id)
{
	char text[128];

	switch (column) {
	case IDS: put_integer(sink, id); break;
	case NAMES: put_text(sink, mindinsight_type(mi, id)); break;
	case LABELS: put_text(sink, label(mi, id, text, sizeof(text))); break;
	case WORKERS: put_integer(sink, mindinsight_workers(mi, id)); break;
	case MEAN: put_number(sink, queue_mean(mi, id)); break;
	case USED: put_number(sink, queue_used(mi, id)); break;
	case EMPTY: put_number(sink, queue_empty(mi, id)); break;
	case CHILDREN: put_children(sink, mi, id); break;
	case PARENT:
		put_integer(sink, mi->parent[id] == INDEX_NONE ? UNKNOWN : (int64_t)mi->parent[id]);
		break;
	case CPU: put_number(sink, cpu_used(mi, id)); break;
	case PER_WORKER: put_number(sink, cpu_per_worker(mi, id)); break;
	}
}

static void put_columns(const struct sink *sink, const struct mindinsight *mi)
{
	static const struct {
		const char *key;
		enum column column;
	} COLUMNS[] = {
		{ "op_ids", IDS },
		{ "op_names", NAMES },
		{ "pipeline_ops", LABELS },
		{ "num_workers", WORKERS },
		{ "queue_average_size", MEAN },
		{ "queue_utilization_pct", USED },
		{ "queue_empty_freq_pct", EMPTY },
		{ "children_ids", CHILDREN },
		{ "parent_id", PARENT },
		{ "avg_cpu_pct", CPU },
		{ "avg_cpu_pct_per_worker", PER_WORKER },
	};

	for (size_t i = 0; i < sizeof(COLUMNS) / sizeof(COLUMNS[0]); i++) {
		begin(sink, COLUMNS[i].key);
		for (uint32_t id = 0; id < mi->count; id++)
			put_cell(sink, mi, COLUMNS[i].column, id);
		end(sink);
	}
}

static void put_times(const struct sink *sink, const struct mindinsight *mi)
{
	const struct mindinsight_times times = mindinsight_times(mi);

	begin(sink, "per_pipeline_time");
	put_number(sink, times.pipeline);
	end(sink);
	begin(sink, "per_push_queue_time");
	put_number(sink, times.push);
	end(sink);
	begin(sink, "per_batch_time");
	put_number(sink, times.batch);
	end(sink);
}

/* Is it an operator that only passes its input on, on one thread? More workers would not help it. */
static bool is_single(const char *type)
{
	static const char *const SINGLE[] = { "Barrier", "Concat",  "EpochCtrl", "Rename", "Repeat",
					      "Shuffle", "Skip",    "Take",	 "Zip",	   "DataQueue" };

	for (size_t i = 0; i < sizeof(SINGLE) / sizeof(SINGLE[0]); i++)
		if (strcmp(type, SINGLE[i]) == 0)
			return true;
	return false;
}

/* Judges an operator's CPU usage per worker; returns false if there is nothing to say. */
static bool judge_cpu(const struct mindinsight *mi, uint32_t id, char *text, size_t size)
{
	double cpu = cpu_per_worker(mi, id);
	uint32_t workers = mindinsight_workers(mi, id);
	char name[128];

	if (is_single(mindinsight_type(mi, id)) || cpu < 0)
		return false;
	label(mi, id, name, sizeof(name));
	if (cpu > WORKER_BUSY)
		snprintf(text, size,
			 "%s: each worker uses %.1f %% of a CPU; more than %" PRIu32
			 " (num_parallel_workers) may make it faster",
			 name, cpu, workers);
	else if (cpu < WORKER_IDLE && workers > 1)
		snprintf(text, size,
			 "%s: each worker uses %.1f %% of a CPU; %" PRIu32
			 " workers may be more than it needs",
			 name, cpu, workers);
	else
		return false;
	return true;
}

/* The input queue of an operator: that of the nearest operator below it with a queue. */
static uint32_t input_of(const struct mindinsight *mi, uint32_t id)
{
	uint32_t queue;

	for (uint32_t round = 0; round < mi->count; round++) {
		uint32_t child = 0;

		while (child < mi->count && mi->parent[child] != id)
			child++;
		if (child == mi->count)
			return INDEX_NONE;
		if (mindinsight_queue(mi, child, &queue))
			return child;
		id = child;
	}
	return INDEX_NONE;
}

/* Judges the queues before and behind an operator; returns false if there is nothing to say. */
static bool judge_queues(const struct mindinsight *mi, uint32_t id, char *text, size_t size)
{
	const char *type = mindinsight_type(mi, id);
	uint32_t input = input_of(mi, id);
	double out = queue_used(mi, id), in = input == INDEX_NONE ? UNKNOWN : queue_used(mi, input);
	char name[128];

	label(mi, id, name, sizeof(name));
	if (strcmp(type, "DataQueue") == 0 && input != INDEX_NONE) {
		if (queue_empty(mi, input) <= DEVICE_INPUT_EMPTY)
			return false;
		snprintf(text, size,
			 "%s: its input queue is empty %.1f %% of the time; the pipeline cannot "
			 "keep up with the device",
			 name, queue_empty(mi, input));
		return true;
	}
	if (is_single(type) || strcmp(type, "Batch") == 0 || out < 0)
		return false;
	if (input == INDEX_NONE && out < LEAF_QUEUE_LOW)
		snprintf(text, size,
			 "%s: its output queue is %.1f %% full; more than %" PRIu32
			 " workers may make reading faster",
			 name, out, mindinsight_workers(mi, id));
	else if (in >= 0 && in - out > QUEUE_DIFFERENCE)
		snprintf(text, size,
			 "%s: its input queue is %.1f %% full, its output queue %.1f %%; it is "
			 "slower than what is below it",
			 name, in, out);
	else
		return false;
	return true;
}

static void put_details(const struct sink *sink, const struct mindinsight *mi, const char *key,
			bool (*judge)(const struct mindinsight *, uint32_t, char *, size_t))
{
	char text[TEXT_SIZE];
	bool any = false;

	for (uint32_t id = 0; id < mi->count; id++) {
		if (!judge(mi, id, text, sizeof(text)))
			continue;
		if (!any)
			begin(sink, key);
		any = true;
		put_text(sink, text);
	}
	if (any)
		end(sink);
}

static void put_bottleneck(const struct sink *sink, const struct mindinsight *mi)
{
	char text[TEXT_SIZE];

	if (!mi->bottleneck || mi->bottleneck->kind == BOTTLENECK_NONE)
		return;
	begin(sink, "bottleneck_warning");
	put_text(sink, label(mi, mi->id[mi->bottleneck->op], text, sizeof(text)));
	end(sink);
	begin(sink, "bottleneck_suggestion");
	put_text(sink, mi->bottleneck->reason);
	end(sink);
}

static void put_all(const struct sink *sink, const struct mindinsight *mi)
{
	put_columns(sink, mi);
	put_times(sink, mi);
	put_details(sink, mi, "cpu_analysis_details", judge_cpu);
	put_details(sink, mi, "queue_analysis_details", judge_queues);
	put_bottleneck(sink, mi);
}

int mindinsight_summary_json(FILE *out, const struct mindinsight *mi)
{
	const struct sink sink = { .json = json_new(out, false) };

	if (!sink.json)
		return -ENOMEM;
	json_map(sink.json, NULL);
	put_all(&sink, mi);
	json_map_close(sink.json);
	return json_end(sink.json);
}

int mindinsight_summary_csv(FILE *out, const struct mindinsight *mi)
{
	const struct sink sink = { .csv = out };

	put_all(&sink, mi);
	return ferror(out) ? -EIO : 0;
}
