/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/layouts/mindinsight/mindinsight.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export/export.h"
#include "analyzer/export/layouts/mindinsight/mindinsight_device.h"

#define SAMPLES_MAX 2000 /* for each queue */
#define SAMPLE_MS_MIN 10

bool mindinsight_queue(const struct mindinsight *mi, uint32_t id, uint32_t *queue)
{
	const struct pipeline *pipeline = mi->usage->pipeline;

	*queue = mi->usage->operators[mi->op[id]].queue;
	return *queue != INDEX_NONE && mi->usage->queues[*queue].known &&
	       pipeline->queues.row[*queue].capacity && !pipeline->queues.row[*queue].to_device;
}

const char *mindinsight_type(const struct mindinsight *mi, uint32_t id)
{
	return model_text(mi->model, mi->usage->pipeline->operators.row[mi->op[id]].type);
}

uint32_t mindinsight_workers(const struct mindinsight *mi, uint32_t id)
{
	uint32_t workers = mi->usage->pipeline->operators.row[mi->op[id]].workers;

	return workers ? workers : 1;
}

/* Finds the first and last push or pop of a queue, or of all queues; returns false if there is none. */
static bool queue_range(const struct pipeline *pipeline, uint32_t queue, uint64_t *first_ns,
			uint64_t *last_ns)
{
	*first_ns = UINT64_MAX;
	*last_ns = 0;
	for (uint32_t i = 0; i < pipeline->queue_events.count; i++) {
		const struct pipeline_queue_event *event = &pipeline->queue_events.row[i];

		if (queue != INDEX_NONE && event->queue != queue)
			continue;
		*first_ns = event->end_ns < *first_ns ? event->end_ns : *first_ns;
		*last_ns = event->end_ns > *last_ns ? event->end_ns : *last_ns;
	}
	return *last_ns >= *first_ns;
}

uint32_t *mindinsight_sizes(const struct mindinsight *mi, uint32_t id, uint32_t *count)
{
	const struct pipeline *pipeline = mi->usage->pipeline;
	uint64_t first_ns, last_ns;
	uint32_t queue, *sizes;

	if (!mindinsight_queue(mi, id, &queue) ||
	    !queue_range(pipeline, queue, &first_ns, &last_ns))
		return NULL;
	*count = (uint32_t)((last_ns - first_ns) / (mi->sample_ms * 1000000ull)) + 1;
	sizes = calloc(*count, sizeof(*sizes));
	if (sizes && pipeline_queue_sizes(pipeline, queue, first_ns, mi->sample_ms * 1000000ull,
					  *count, sizes))
		return sizes;
	free(sizes);
	return NULL;
}

void mindinsight_cell(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
	fputc('"', out);
}

struct numbered {
	uint32_t op;
	uint32_t depth;
	int32_t id;
};

static int by_depth(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Uses the framework's own numbers if they are consecutive from 0; otherwise numbers from the trainer down. */
static bool number_operators(struct mindinsight *mi)
{
	const struct pipeline *pipeline = mi->usage->pipeline;
	struct numbered *rows = calloc((size_t)mi->count + 1, sizeof(*rows));
	bool own = true;

	if (!rows)
		return false;
	for (uint32_t i = 0; i < mi->count; i++) {
		uint32_t op = mi->usage->order[i];

		rows[i] = (struct numbered){ op, mi->usage->operators[op].depth,
					     pipeline->operators.row[op].id };
		own &= rows[i].id == (int32_t)i;
	}
	if (!own || (mi->count && rows[0].depth))
		qsort(rows, mi->count, sizeof(*rows), by_depth);
	for (uint32_t i = 0; i < mi->count; i++) {
		mi->op[i] = rows[i].op;
		mi->id[rows[i].op] = i;
		mi->parent[i] = INDEX_NONE;
	}
	for (uint32_t i = 0; i < pipeline->edges.count; i++) {
		uint32_t from = mi->id[pipeline->edges.row[i].from];

		if (mi->parent[from] == INDEX_NONE && from)
			mi->parent[from] = mi->id[pipeline->edges.row[i].to];
	}
	free(rows);
	return true;
}

static void find_queues(struct mindinsight *mi)
{
	const struct pipeline *pipeline = mi->usage->pipeline;

	mi->host_queue = INDEX_NONE;
	for (uint32_t q = pipeline->queues.count; q-- > 0;) {
		const struct pipeline_queue *queue = &pipeline->queues.row[q];

		mi->device |= queue->to_device;
		if (queue->to_device)
			continue;
		if (queue->to == INDEX_NONE || pipeline->operators.row[queue->to].in_trainer)
			mi->host_queue = q;
	}
	for (uint32_t q = 0; q < pipeline->queues.count && mi->device; q++)
		for (uint32_t d = 0; d < pipeline->queues.count; d++)
			if (pipeline->queues.row[d].to_device &&
			    pipeline->queues.row[q].to == pipeline->queues.row[d].from)
				mi->host_queue = q;
}

static uint32_t choose_sample_ms(const struct pipeline *pipeline)
{
	uint64_t first_ns, last_ns, ms;

	if (!queue_range(pipeline, INDEX_NONE, &first_ns, &last_ns))
		return SAMPLE_MS_MIN;
	ms = (last_ns - first_ns) / 1000000 / SAMPLES_MAX;
	return ms < SAMPLE_MS_MIN ? SAMPLE_MS_MIN : ms < UINT32_MAX ? (uint32_t)ms + 1 : UINT32_MAX;
}

static int prepare(struct mindinsight *mi)
{
	size_t size = ((size_t)mi->count + 1) * sizeof(uint32_t);

	mi->op = malloc(size);
	mi->id = malloc(size);
	mi->parent = malloc(size);
	if (!mi->op || !mi->id || !mi->parent || !number_operators(mi))
		return -ENOMEM;
	find_queues(mi);
	mi->sample_ms = choose_sample_ms(mi->usage->pipeline);
	return pipeline_series_compute(mi->model, mi->results->host, mi->results->processes,
				       mi->usage, &mi->series);
}

static void release(struct mindinsight *mi)
{
	free(mi->op);
	free(mi->id);
	free(mi->parent);
	pipeline_series_free(&mi->series);
}

struct file {
	const char *name; /* file name with the number */
	int (*write)(FILE *out, const struct mindinsight *mi);
};

static int write_file(const char *folder, uint32_t number, const struct file *file,
		      const struct mindinsight *mi, char *error, size_t error_size)
{
	char name[64], path[PATH_MAX];
	FILE *out;
	int err;

	snprintf(name, sizeof(name), file->name, number);
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
		snprintf(error, error_size, "cannot write %s: %s", name, strerror(ENAMETOOLONG));
		return -ENAMETOOLONG;
	}
	out = fopen(path, "w");
	err = out ? file->write(out, mi) : -errno;
	if (out && fclose(out) != 0 && !err)
		err = -errno;
	if (err)
		snprintf(error, error_size, "cannot write %s: %s", path, strerror(-err));
	return err;
}

static int write_pipeline(const struct mindinsight *mi, const char *folder, uint32_t number,
			  char *error, size_t error_size)
{
	static const struct file FILES[] = {
		{ "minddata_cpu_utilization_%u.json", mindinsight_cpu },
		{ "pipeline_profiling_%u.json", mindinsight_pipeline },
		{ "minddata_pipeline_raw_%u.csv", mindinsight_raw },
		{ "minddata_pipeline_summary_%u.json", mindinsight_summary_json },
		{ "minddata_pipeline_summary_%u.csv", mindinsight_summary_csv },
	};
	const struct file steps = { mi->device ? "device_queue_profiling_%u.txt" :
						 "dataset_iterator_profiling_%u.txt",
				    mindinsight_steps };
	const struct file reads = { "minddata_aicpu_%u.txt", mindinsight_reads };
	int err = write_file(folder, number, &steps, mi, error, error_size);

	if (!err && mindinsight_has_reads(mi))
		err = write_file(folder, number, &reads, mi, error, error_size);
	for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]) && !err; i++)
		err = write_file(folder, number, &FILES[i], mi, error, error_size);
	return err;
}

/* Writes the file without which MindInsight finds no device and shows nothing. */
static int write_info(const char *folder, uint32_t number, char *error, size_t error_size)
{
	char path[PATH_MAX];
	FILE *out;
	int err = -ENAMETOOLONG;

	if (snprintf(path, sizeof(path), "%s/profiler_info_%u.json", folder, number) <
	    (int)sizeof(path)) {
		out = fopen(path, "wx");
		/* The device with the same number has written a more complete file. */
		err = out || errno == EEXIST ? 0 : -errno;
		if (out) {
			fprintf(out, "{\"context_mode\": \"graph\", \"rank_id\": %u}\n", number);
			if (fclose(out) != 0)
				err = -errno;
		}
	}
	if (err)
		snprintf(error, error_size, "cannot write %s: %s", path, strerror(-err));
	return err;
}

/* @first: number of the first pipeline. */
static int write_pipelines(const struct model *model, const struct results *results, uint32_t first,
			   const char *path, char *error, size_t error_size)
{
	const struct pipeline_results *pipelines = results->pipelines;
	int err = 0;

	for (uint32_t i = 0; i < pipelines->count && !err; i++) {
		struct mindinsight mi = {
			.model = model,
			.results = results,
			.usage = &pipelines->rows[i],
			.bottleneck = results->advice ? &results->advice->bottlenecks[i] : NULL,
			.count = pipelines->rows[i].pipeline->operators.count,
		};

		err = prepare(&mi);
		if (err)
			snprintf(error, error_size, "cannot write %s: %s", path, strerror(-err));
		else
			err = write_pipeline(&mi, path, first + i, error, error_size);
		release(&mi);
		if (!err)
			err = write_info(path, first + i, error, error_size);
	}
	return err;
}

/* Explains which data are missing. */
static int refuse(const struct results *results, char *error, size_t error_size)
{
	if (!results->pipelines->count)
		snprintf(error, error_size,
			 "nothing to export: the trace has no data pipeline, no device task and no "
			 "operator of MindSpore on a CPU, and MindInsight's files contain nothing "
			 "else (known pipelines: MindSpore's MindData, PyTorch's DataLoader, "
			 "tf.data, MegEngine; device tasks come from jobs started with a device "
			 "layer, or with --device)");
	else
		snprintf(error, error_size,
			 "the trace has no figures of the host's CPUs, without which MindInsight "
			 "shows nothing; record for longer than an interval");
	return -ENODATA;
}

/* Returns -ENODATA if there is no device task, no operator on a CPU and no pipeline, or if the host's CPUs are unknown. */
static int write_mindinsight(const struct model *model, const struct results *results, const char *path,
			     const struct export_options *options, char *error, size_t error_size)
{
	uint32_t pipelines = results->host->interval_count ? results->pipelines->count : 0;
	struct mindinsight_devices devices;
	uint32_t hosts;
	int err = mindinsight_write_devices(model, results, path, &devices, error, error_size);

	if (!err)
		err = mindinsight_write_host_cpu(model, results, path, devices.only, &hosts, error,
						 error_size);
	if (!err && !pipelines && !devices.count && !hosts)
		return refuse(results, error, error_size);
	if (!err && pipelines)
		err = write_pipelines(model, results, devices.only, path, error, error_size);
	for (uint32_t i = 0; !err && i < hosts; i++)
		err = write_info(path, devices.only + i, error, error_size);
	return err;
}

const struct exporter export_mindinsight = { .folder = true, .cut = true, .write = write_mindinsight };
