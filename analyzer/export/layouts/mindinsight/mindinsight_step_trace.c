/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MindInsight's table of steps, in ticks of 10 ns: a row per step and one of means without the first step.
 *
 * If the end of the backward pass is unknown for some step, the table is written for a network without a backward
 * pass ("fp"), which MindInsight supports, too. Each collective has three columns, by stream and number.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/task_sort.h"
#include "analyzer/view/render/json.h"
#include "analyzer/export/layouts/mindinsight/mindinsight_device.h"

#define TICK_NS 10

/* The collectives of a stream: the number of columns is that of the step with most collectives. */
struct reduce_stream {
	uint64_t stream;
	uint32_t most;
	uint32_t seen; /* number of its collectives in the current step */
	uint32_t first; /* column of its first collective */
};

/* One collective in one step, relative to the step's start; end_ns 0 = the step does not have it. */
struct reduce {
	uint64_t start_ns;
	uint64_t end_ns;
};

struct steps_table {
	const struct mindinsight_device *of;
	const struct device_step_trace *trace;
	struct reduce_stream *streams;
	uint32_t stream_count;
	uint32_t stream_capacity;
	uint32_t columns; /* columns for collectives */
	struct reduce *reduces; /* collectives of the current row */
	struct reduce *sums; /* sums over the rows of the means */
	uint32_t *counts;
	bool backward;
};

static struct reduce_stream *stream_of(struct steps_table *table, uint64_t stream)
{
	for (uint32_t i = 0; i < table->stream_count; i++) {
		if (table->streams[i].stream == stream)
			return &table->streams[i];
	}
	if (table->stream_count == table->stream_capacity &&
	    !model_grow((void **)&table->streams, &table->stream_capacity, table->stream_count,
			sizeof(*table->streams)))
		return NULL;
	table->streams[table->stream_count] = (struct reduce_stream){ .stream = stream };
	return &table->streams[table->stream_count++];
}

/* Returns the device's collectives, sorted by start. */
static uint32_t *find_collectives(const struct mindinsight_device *of, uint32_t *count)
{
	uint32_t *rows = malloc(((size_t)of->count + 1) * sizeof(*rows));

	*count = 0;
	for (uint32_t i = 0; rows && i < of->count; i++) {
		const struct device_task *task = &of->model->tasks.row[of->order[i]];

		if (task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION &&
		    !(task->flags & MODEL_TASK_UNTIMED))
			rows[(*count)++] = of->order[i];
	}
	if (rows)
		tasks_sort_by_start(of->model, rows, *count);
	return rows;
}

/* Takes the collectives that begin in a step, from *@next on; once the columns are known, writes them there. */
static int take_collectives(struct steps_table *table, const struct device_step_row *row,
			    const uint32_t *rows, uint32_t count, uint32_t *next)
{
	const struct device_task *tasks = table->of->model->tasks.row;

	for (uint32_t i = 0; i < table->stream_count; i++)
		table->streams[i].seen = 0;
	if (table->reduces)
		memset(table->reduces, 0, table->columns * sizeof(*table->reduces));
	while (*next < count && tasks[rows[*next]].start_ns < row->start_ns)
		(*next)++;
	for (; *next < count && tasks[rows[*next]].start_ns < row->end_ns; (*next)++) {
		const struct device_task *task = &tasks[rows[*next]];
		struct reduce_stream *stream = stream_of(table, task->stream);

		if (!stream)
			return -ENOMEM;
		if (table->reduces)
			table->reduces[stream->first + stream->seen] =
				(struct reduce){ task->start_ns - row->start_ns,
						 task->end_ns - row->start_ns };
		stream->seen++;
		if (stream->seen > stream->most)
			stream->most = stream->seen;
	}
	return 0;
}

static int count_columns(struct steps_table *table, const uint32_t *rows, uint32_t count)
{
	uint32_t next = 0;
	int err = 0;

	for (uint32_t i = 0; i < table->trace->count && !err; i++)
		err = take_collectives(table, &table->trace->rows[i], rows, count, &next);
	for (uint32_t i = 0; i < table->stream_count; i++) {
		table->streams[i].first = table->columns;
		table->columns += table->streams[i].most;
	}
	table->reduces = calloc((size_t)table->columns + 1, sizeof(*table->reduces));
	table->sums = calloc((size_t)table->columns + 1, sizeof(*table->sums));
	table->counts = calloc((size_t)table->columns + 1, sizeof(*table->counts));
	return err || (table->reduces && table->sums && table->counts) ? err : -ENOMEM;
}

static void put_header(FILE *out, const struct steps_table *table)
{
	fprintf(out, "step_num,start_point,end_point,total,fp_point,%siteration_interval,%s",
		table->backward ? "bp_point," : "", table->backward ? "fp_and_bp,tail" : "fp");
	for (uint32_t i = 0; i < table->stream_count; i++) {
		uint64_t stream = table->streams[i].stream;

		/* MindInsight requires a number. */
		stream = stream == MODEL_ID_NONE ? 0 : stream;
		for (uint32_t k = 1; k <= table->streams[i].most; k++)
			fprintf(out,
				",stream_%" PRIu64 "_%u_AllReduce,stream_%" PRIu64
				"_%u_AllReduce_start_point,stream_%" PRIu64 "_%u_AllReduce_end_point",
				stream, k, stream, k, stream, k);
	}
	fputc('\n', out);
}

static uint64_t ticks(double ns)
{
	return ns > 0 ? (uint64_t)(ns / TICK_NS + 0.5) : 0;
}

/* The parts of a step; instants are relative to @start_ns, so that doubles can hold them. */
struct step_parts {
	uint64_t start_ns;
	double total_ns;
	double gap_ns;
	double fp_bp_ns;
	double tail_ns;
};

/* Columns for collectives that the step does not have are 0, which MindInsight treats as absent. */
static void put_parts(FILE *out, const struct steps_table *table, const struct step_parts *parts,
		      const struct reduce *reduces)
{
	uint64_t start = parts->start_ns / TICK_NS;
	uint64_t fp = start + ticks(parts->gap_ns), end = start + ticks(parts->total_ns);

	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, start, end, end - start, fp);
	if (table->backward)
		fprintf(out, ",%" PRIu64, fp + ticks(parts->fp_bp_ns));
	fprintf(out, ",%" PRIu64, ticks(parts->gap_ns));
	if (table->backward)
		fprintf(out, ",%" PRIu64 ",%" PRIu64, ticks(parts->fp_bp_ns), ticks(parts->tail_ns));
	else
		fprintf(out, ",%" PRIu64, end - fp);
	for (uint32_t i = 0; i < table->columns; i++) {
		if (!reduces[i].end_ns)
			fputs(",0,0,0", out);
		else
			fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
				ticks((double)(reduces[i].end_ns - reduces[i].start_ns)),
				start + ticks((double)reduces[i].start_ns),
				start + ticks((double)reduces[i].end_ns));
	}
	fputc('\n', out);
}

static void put_step(FILE *out, struct steps_table *table, uint32_t i, bool in_means)
{
	const struct device_step_row *row = &table->trace->rows[i];
	const struct step_parts parts = { .start_ns = row->start_ns,
					  .total_ns = (double)(row->end_ns - row->start_ns),
					  .gap_ns = row->first ? 0 : (double)row->gap_ns,
					  .fp_bp_ns = (double)row->fp_bp_ns,
					  .tail_ns = (double)row->tail_ns };

	fprintf(out, "%u", i + 1);
	put_parts(out, table, &parts, table->reduces);
	for (uint32_t k = 0; k < table->columns && in_means; k++) {
		if (!table->reduces[k].end_ns)
			continue;
		table->sums[k].start_ns += table->reduces[k].start_ns;
		table->sums[k].end_ns += table->reduces[k].end_ns;
		table->counts[k]++;
	}
}

static void put_means(FILE *out, struct steps_table *table)
{
	const struct device_step_means *means = &table->trace->means;
	const struct step_parts parts = { .total_ns = means->duration_ns,
					  .gap_ns = means->gap_ns,
					  .fp_bp_ns = means->fp_bp_ns,
					  .tail_ns = means->tail_ns };

	for (uint32_t k = 0; k < table->columns; k++) {
		if (!table->counts[k])
			continue;
		table->sums[k].start_ns /= table->counts[k];
		table->sums[k].end_ns /= table->counts[k];
	}
	fputc('-', out);
	put_parts(out, table, &parts, table->sums);
}

static bool knows_backward(const struct device_step_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++) {
		if (!trace->rows[i].bp_end_ns)
			return false;
	}
	return true;
}

int mindinsight_step_trace(FILE *out, const struct mindinsight_device *of)
{
	struct steps_table table = { .of = of,
				     .trace = of->steps,
				     .backward = knows_backward(of->steps) };
	uint32_t count, next = 0, *rows = find_collectives(of, &count);
	int err = rows ? count_columns(&table, rows, count) : -ENOMEM;

	if (!err)
		put_header(out, &table);
	for (uint32_t i = 0; i < of->steps->count && !err; i++) {
		err = take_collectives(&table, &of->steps->rows[i], rows, count, &next);
		if (!err)
			put_step(out, &table, i, !of->steps->rows[i].first || of->steps->count == 1);
	}
	if (!err)
		put_means(out, &table);
	free(rows);
	free(table.streams);
	free(table.reduces);
	free(table.sums);
	free(table.counts);
	return err;
}

/* Finds the kernel that ends at the end of the backward pass of the last step. */
static uint32_t backward_name(const struct mindinsight_device *of)
{
	uint64_t end_ns = of->steps->rows[of->steps->count - 1].bp_end_ns;

	for (uint32_t i = 0; i < of->count && end_ns; i++) {
		const struct device_task *task = &of->model->tasks.row[of->order[i]];

		if (task->end_ns == end_ns && task->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL)
			return task->name;
	}
	return 0;
}

int mindinsight_points(FILE *out, const struct mindinsight_device *of)
{
	struct json *json = json_new(out, false);
	uint32_t name = backward_name(of);

	if (!json)
		return -ENOMEM;
	json_map(json, NULL);
	if (of->steps->fp_name)
		json_text(json, "fp_start", model_text(of->model, of->steps->fp_name));
	if (name)
		json_text(json, "bp_end", model_text(of->model, name));
	json_map_close(json);
	return json_end(json);
}
