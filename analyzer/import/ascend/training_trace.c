/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw log of an Ascend's steps, training_trace.* in a "JOB*" folder of 2020.
 *
 * Records of 20 bytes: 16 bits of tag at 0, of stream at 10, 64 of the device's counter at 12. Tag 1 is the start
 * of the forward pass, 2 the end of the backward pass, 255 the end of the step; from 3 on odd tags are starts and
 * the next even tags ends of reductions. 0 and 10010 are before the step.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_raw.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"

#define RECORD 20
#define TAG_MAX 20000
#define REDUCES_MAX 4096 /* maximum per step */

enum tag { TAG_FP = 1, TAG_BP = 2, TAG_REDUCE = 3, TAG_END = 255, TAG_BEGIN = 10010 };

struct begun {
	uint64_t ns; /* 0 = not begun */
	uint64_t stream;
};

struct training {
	struct import *import;
	struct import_rows rows;
	uint64_t device;
	uint64_t count; /* number of complete steps */
	struct device_step step; /* the current step */
	struct begun reduces[REDUCES_MAX]; /* by (tag - 3) / 2 */
	size_t begun; /* number of elements of reduces in use; later ones are untouched */
};

static bool is_record(const uint8_t *record)
{
	uint64_t tag = ascend_raw_number(record, 2);

	return !ascend_raw_number(record + 2, 6) && ascend_raw_number(record + 12, 8) &&
	       ascend_raw_number(record + 12, 8) < INT64_MAX / ASCEND_RAW_TICK_NS && tag <= TAG_MAX;
}

static int detect(const struct import_sample *sample)
{
	const uint8_t *text = (const uint8_t *)sample->text;
	bool forward = false;

	if (sample->directory)
		return 0;
	if (ascend_raw_is_part(sample->path, "training_trace."))
		return 50;
	if (sample->size < (size_t)4 * RECORD)
		return 0;
	for (size_t i = 0; i < 4; i++) {
		if (!is_record(text + i * RECORD))
			return 0;
		forward |= ascend_raw_number(text + i * RECORD, 2) == TAG_FP;
	}
	return forward ? 50 : 0;
}

static void begin_step(struct training *file)
{
	file->step =
		(struct device_step){ .number = file->count + 1,
				      .model_id = MODEL_ID_NONE,
				      .first_reduce = file->import->model->device_reduces.count };
	memset(file->reduces, 0, file->begun * sizeof(file->reduces[0]));
	file->begun = 0;
}

static int end_step(struct training *file, uint64_t ns)
{
	struct model *model = file->import->model;
	struct device_step *step = &file->step;
	int err = 0;

	file->count++;
	step->end_ns = ns;
	step->reduce_count = model->device_reduces.count - step->first_reduce;
	step->device = import_same_device(&file->rows, file->device, "Ascend", "npu",
					  ASCEND_RAW_SOURCE, ASCEND_RAW_CLOCK);
	if (step->device == INDEX_NONE)
		return -ENOMEM;
	if (!step->fp_start_ns || ns < step->fp_start_ns || step->bp_end_ns > ns)
		err = import_finding(file->import, "steps without usable times: an end is missing or before "
						   "the start, as in steps that a recording cuts", NULL);
	else
		err = import_device_step(file->import, step);
	begin_step(file);
	return err;
}

static int on_reduce(struct training *file, uint64_t tag, uint64_t stream, uint64_t ns)
{
	size_t place = (tag - TAG_REDUCE) / 2 % REDUCES_MAX;
	struct begun *begun = &file->reduces[place];
	struct device_reduce reduce = { .start_ns = begun->ns, .end_ns = ns, .stream = stream };

	if (tag % 2) {
		*begun = (struct begun){ ns, stream };
		file->begun = place < file->begun ? file->begun : place + 1;
		return 0;
	}
	if (!begun->ns || begun->stream != stream || ns < begun->ns)
		return import_finding(file->import, "ends of reductions that never began", NULL);
	begun->ns = 0;
	return MODEL_PUSH(&file->import->model->device_reduces, reduce) ? 0 : -ENOMEM;
}

static int on_record(void *context, const uint8_t *record)
{
	struct training *file = context;
	uint64_t tag = ascend_raw_number(record, 2), ns;

	if (!is_record(record))
		return import_finding(file->import, "records of no known form: a newer profiler may have "
						    "written them; the others count", NULL);
	ns = ascend_raw_number(record + 12, 8) * ASCEND_RAW_TICK_NS;
	switch (tag) {
	case 0:
	case TAG_BEGIN: return 0;
	case TAG_FP: file->step.fp_start_ns = ns; return 0;
	case TAG_BP: file->step.bp_end_ns = ns; return 0;
	case TAG_END: return end_step(file, ns);
	default: return on_reduce(file, tag, ascend_raw_number(record + 10, 2), ns);
	}
}

static int import(struct import *import)
{
	struct training *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->import = import;
	file->device = ascend_raw_device(import->path);
	import_rows_begin(&file->rows, import);
	begin_step(file);
	err = ascend_raw_read(import, RECORD, on_record, file);
	import_rows_free(&file->rows);
	free(file);
	return err;
}

const struct importer import_training_trace = {
	.name = "hwts",
	.what = "a raw log of an Ascend's steps (training_trace.*)",
	.detect = detect,
	.import = import,
};
