/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw log of an Ascend's AI CPUs, DATA_PREPROCESS.AICPU.* or DATA_PREPROCESS.dev.AICPU.* beside hwts.*.
 *
 * Records of 128 bytes, little-endian: 0x5a5a at 0, 16 bits of stream at 4 and of task at 6, 64 of the device's
 * counter (10 ns) at 16 (start of the run) and 56 (its end), 32 of microseconds at 108 (until it was dispatched)
 * and 112 (total). Older logs have texts that end with NUL, two for each run: "[3]Node:Default/Cast-op7, ..." of 3
 * or 6 parts between commas, of which the second and the last have microseconds and counter of start and end, and
 * "Thread ...", whose sixth and seventh parts are "dispatch_time=N us" and "total_time=N us"
 * (mindspore/profiler/parser/aicpu_data_parser.py of 2.0). A run that lies within a task with the same number in
 * the hardware's log is that task.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_raw.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/task_find.h"
#include "lib/base/bisect.h"
#include "lib/base/sort_rows.h"

#define RECORD 128
#define MAGIC 0x5a5a
#define CORE "AI_CPU"
#define TEXT_MAX 1024 /* bytes of a line */
#define PARTS_MAX 8 /* parts of a line */
#define MINDSPORE_PARTS 3 /* parts of a node of MindSpore's own kernels; other nodes have OTHER_PARTS */
#define OTHER_PARTS 6
#define THREAD_PARTS 7
#define NO_FORM "lines of no known form"
#define UNKNOWN UINT64_MAX

struct run {
	uint64_t stream; /* UNKNOWN in text logs, as the next */
	uint64_t task;
	uint64_t start; /* value of the counter */
	uint64_t end;
	uint64_t dispatch_us;
	uint64_t total_us;
	const char *name; /* NULL = unknown */
};

/* A task of the hardware's log. */
struct scheduled {
	uint64_t task;
	uint64_t start_ns;
	uint32_t row;
	bool taken; /* a run was assigned to it */
};

struct aicpu {
	struct import *import;
	struct import_rows rows;
	uint64_t device;
	MODEL_ARRAY(struct scheduled) scheduled; /* sorted by number and start */
	uint8_t bytes[TEXT_MAX]; /* the current record or line; bytes beyond are dropped */
	size_t used;
	uint64_t place; /* offset in the log */
	bool binary; /* has binary records, by its first two bytes */
	char node[TEXT_MAX]; /* a node whose "Thread" line is still to come; "" = none */
};

static bool is_text(const char *text)
{
	return strstr(text, "Node:") && strchr(text, ',') && !strstr(text, "queue size");
}

static int detect(const struct import_sample *sample)
{
	const uint8_t *bytes = (const uint8_t *)sample->text;

	if (sample->directory)
		return 0;
	if (ascend_raw_is_part(sample->path, "DATA_PREPROCESS."))
		return 60;
	if (sample->size >= RECORD && ascend_raw_number(bytes, 2) == MAGIC)
		return sample->size < RECORD + 2 || ascend_raw_number(bytes + RECORD, 2) == MAGIC ? 60 : 0;
	/* Texts that end with NUL; no other format has them. */
	return strlen(sample->text) < sample->size && is_text(sample->text) ? 60 : 0;
}

static int by_number(const void *a, const void *b)
{
	const struct scheduled *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static bool is_device(const struct aicpu *file, const struct device *device)
{
	return device->id == file->device &&
	       strcmp(model_text(file->import->model, device->source), ASCEND_RAW_SOURCE) == 0;
}

/* Indexes the tasks of the same device from the hardware's log. */
static int find_scheduled(struct aicpu *file)
{
	const struct model *model = file->import->model;

	for (uint32_t i = file->import->first_task; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];
		const struct task_detail *detail = model_task_detail(model, task);
		struct scheduled row = { .start_ns = task->start_ns, .row = i };

		if (!detail || detail->task_id == MODEL_ID_NONE ||
		    task->device < file->import->first_device ||
		    !is_device(file, &model->devices.row[task->device]))
			continue;
		row.task = detail->task_id;
		if (!MODEL_PUSH(&file->scheduled, row))
			return -ENOMEM;
	}
	SORT_ARRAY(&file->scheduled, by_number);
	return 0;
}

/* The task that contains a run; NULL if there is none. */
static struct scheduled *scheduled_of(struct aicpu *file, const struct run *run)
{
	struct scheduled *rows = file->scheduled.row;
	uint64_t start_ns = run->start * ASCEND_RAW_TICK_NS;
	uint32_t after = BISECT(i, 0, file->scheduled.count,
				rows[i].task < run->task ||
					(rows[i].task == run->task && rows[i].start_ns <= start_ns));

	if (run->task == UNKNOWN || !after || rows[after - 1].task != run->task ||
	    file->import->model->tasks.row[rows[after - 1].row].end_ns < run->end * ASCEND_RAW_TICK_NS)
		return NULL;
	return &rows[after - 1];
}

static int add_task(struct aicpu *file, const struct run *run)
{
	struct model *model = file->import->model;
	struct device_task task = { .start_ns = run->start * ASCEND_RAW_TICK_NS,
				    .end_ns = run->end * ASCEND_RAW_TICK_NS,
				    .stream = run->stream,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL };
	char name[64];

	snprintf(name, sizeof(name), "stream %" PRIu64 " task %" PRIu64, run->stream, run->task);
	task.name = model_string(model, run->name ? run->name : name);
	task.device = import_same_device(&file->rows, file->device, "Ascend", "npu",
					 ASCEND_RAW_SOURCE, ASCEND_RAW_CLOCK);
	if (task.name == INDEX_NONE || task.device == INDEX_NONE)
		return -ENOMEM;
	return import_task(&file->rows, &task);
}

/* Adds type and metrics to a task. */
static int describe(struct aicpu *file, struct device_task *task, const struct run *run)
{
	struct model *model = file->import->model;
	const struct task_metric metrics[] = {
		{ model_string(model, "Dispatch_time(us)"), (double)run->dispatch_us },
		{ model_string(model, "Total_time(us)"), (double)run->total_us },
	};
	struct task_detail *detail = task_detail_of(model, task);
	const char *last = run->name ? strrchr(run->name, '/') : NULL;
	char type[TEXT_MAX];

	task->core = model_string(model, CORE);
	if (!detail || metrics[0].name == INDEX_NONE || metrics[1].name == INDEX_NONE ||
	    task->core == INDEX_NONE)
		return -ENOMEM;
	if (run->task != UNKNOWN)
		detail->task_id = run->task;
	if (!task_detail_add_metrics(model, detail, metrics, 2))
		return -ENOMEM;
	if (!run->name)
		return 0;
	/* The type of "Default/network/Cast-op7" is Cast. */
	snprintf(type, sizeof(type), "%s", last ? last + 1 : run->name);
	type[strcspn(type, "-")] = '\0';
	task->type = model_string(model, type);
	return task->type == INDEX_NONE ? -ENOMEM : 0;
}

static int on_run(struct aicpu *file, const struct run *run)
{
	struct model *model = file->import->model;
	struct scheduled *scheduled;
	int err;

	if (!run->start || run->end < run->start || run->end > INT64_MAX / ASCEND_RAW_TICK_NS)
		return import_finding(file->import, "tasks without usable times: the end is missing or "
						    "before the start", run->name);
	scheduled = scheduled_of(file, run);
	if (scheduled && scheduled->taken)
		return import_finding(file->import, "more than one run on an AI CPU within a task", NULL);
	if (scheduled) {
		scheduled->taken = true;
		return describe(file, &model->tasks.row[scheduled->row], run);
	}
	err = add_task(file, run);
	return err ? err : describe(file, &model->tasks.row[model->tasks.count - 1], run);
}

static int on_record(struct aicpu *file)
{
	const uint8_t *record = file->bytes;
	const struct run run = { .stream = ascend_raw_number(record + 4, 2),
				 .task = ascend_raw_number(record + 6, 2),
				 .start = ascend_raw_number(record + 16, 8),
				 .end = ascend_raw_number(record + 56, 8),
				 .dispatch_us = ascend_raw_number(record + 108, 4),
				 .total_us = ascend_raw_number(record + 112, 4) };

	return ascend_raw_number(record, 2) == MAGIC
		       ? on_run(file, &run)
		       : import_finding(file->import, "records of no known form: a newer profiler may have "
						      "written them; the others count", NULL);
}

/* Splits a text at commas, which become NULs. Returns the number of parts, at most PARTS_MAX. */
static size_t split(char *text, char **parts)
{
	size_t count = 0;

	while (text && count < PARTS_MAX) {
		parts[count++] = text;
		text = strchr(text, ',');
		if (text)
			*text++ = '\0';
	}
	return count;
}

/* The counter in "Run start:2298200409 538898", its second number. */
static bool counter_of(const char *part, uint64_t *counter)
{
	const char *numbers = strrchr(part, ':');

	return numbers && sscanf(numbers + 1, "%*u %" SCNu64, counter) == 1;
}

static bool microseconds_of(const char *part, uint64_t *us)
{
	const char *number = strrchr(part, '=');

	return number && sscanf(number + 1, "%" SCNu64, us) == 1;
}

static int on_thread(struct aicpu *file, char *line)
{
	struct run run = { .stream = UNKNOWN, .task = UNKNOWN };
	char *node[PARTS_MAX], *thread[PARTS_MAX];
	size_t nodes = split(file->node, node);

	if ((nodes != MINDSPORE_PARTS && nodes != OTHER_PARTS) || !strchr(node[0], ':') ||
	    split(line, thread) < THREAD_PARTS || !counter_of(node[1], &run.start) ||
	    !counter_of(node[nodes - 1], &run.end) || !microseconds_of(thread[5], &run.dispatch_us) ||
	    !microseconds_of(thread[6], &run.total_us))
		return import_finding(file->import, NO_FORM, NULL);
	run.name = strrchr(node[0], ':') + 1;
	return on_run(file, &run);
}

static int on_line(struct aicpu *file, char *line)
{
	int err = 0;

	if (file->node[0] && strstr(line, "Thread"))
		err = on_thread(file, line);
	else if (file->node[0])
		err = import_finding(file->import, NO_FORM, NULL);
	file->node[0] = '\0';
	if (strstr(line, "Node:"))
		strcpy(file->node, line);
	return err;
}

/* The log's first two bytes decide whether it is binary; newlines before the NUL are not part of a line. */
static int on_byte(void *context, const uint8_t *byte)
{
	struct aicpu *file = context;

	if (file->used + 1 < sizeof(file->bytes) && (file->binary || file->place < 2 || *byte != '\n'))
		file->bytes[file->used++] = *byte;
	if (++file->place == 2)
		file->binary = ascend_raw_number(file->bytes, 2) == MAGIC;
	if (file->binary ? file->used < RECORD : *byte != '\0')
		return 0;
	file->bytes[file->used] = '\0';
	file->used = 0;
	return file->binary ? on_record(file) : on_line(file, (char *)file->bytes);
}

static int import(struct import *import)
{
	struct aicpu *file = calloc(1, sizeof(*file));
	uint32_t tasks = import->model->tasks.count;
	int err;

	if (!file)
		return -ENOMEM;
	file->import = import;
	file->device = ascend_raw_device(import->path);
	import_rows_begin(&file->rows, import);
	err = find_scheduled(file);
	if (!err)
		err = ascend_raw_read(import, 1, on_byte, file);
	if (!err && file->used)
		err = import_damage(import, "damaged: what follows was not read; copy or export the file "
					    "again",
				     "it ends inside a record");
	if (!err && file->binary)
		err = ascend_raw_name(import, file->device, tasks);
	import_rows_free(&file->rows);
	free(file->scheduled.row);
	free(file);
	return err;
}

const struct importer import_aicpu_raw = {
	.name = "hwts",
	.what = "a raw log of an Ascend's AI CPUs (DATA_PREPROCESS.AICPU.*)",
	.detect = detect,
	.import = import,
};
