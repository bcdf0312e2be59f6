/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/write/report/report_device.h"
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/report/report_told.h"
#include "analyzer/write/stream.h"
#include "analyzer/write/table.h"

uint32_t rows_shown(const struct report_options *options, uint32_t count)
{
	return options->top && options->top < count ? options->top : count;
}

void text_device_cell(struct table *table, const struct model *model, uint32_t index)
{
	const struct device *device = &model->devices.row[index];

	if (device->has_rank)
		table_format(table, "%u (rank %u)", device->id, device->rank);
	else
		table_count(table, device->id);
}

void text_more(FILE *out, const char *what, uint32_t count, uint32_t shown)
{
	if (shown < count)
		fprintf(out, "... and %u more %s (--top 0 shows all)\n", count - shown, what);
}

typedef int text_fn(FILE *out, const struct model *model, const struct results *results,
		    const struct report_options *options);

struct text_section {
	uint32_t section;
	text_fn *write;
};

static const struct text_section SECTIONS[] = {
	{ SECTION_VERDICT, text_verdict },
	{ SECTION_TRACE, text_trace },
	{ SECTION_CAPTURE, text_capture },
	{ SECTION_HOST, text_host },
	{ SECTION_PROCESSES, text_processes },
	{ SECTION_PIPELINE, text_pipeline },
	{ SECTION_STEPS, text_steps },
	{ SECTION_STEPS, text_device_steps },
	{ SECTION_API, text_api },
	{ SECTION_API, text_api_statistic },
	{ SECTION_IOCTL, text_ioctl },
	{ SECTION_IO, text_io },
};

int report_text(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	for (size_t i = 0; i < sizeof(SECTIONS) / sizeof(SECTIONS[0]); i++) {
		int err = 0;

		if (options->sections & SECTIONS[i].section)
			err = SECTIONS[i].write(out, model, results, options);
		if (err)
			return err;
	}
	if (results->devices) {
		int err = report_text_device_sections(out, model, results->devices, options);

		if (err)
			return err;
	}
	if (results->cluster && options->sections & SECTION_CLUSTER) {
		int err = text_cluster(out, model, results, options);

		if (err)
			return err;
	}
	if (results->operator_steps && options->sections & SECTION_SHAPES) {
		int err = text_shapes(out, model, results, options);

		if (err)
			return err;
	}
	if (results->memory && options->sections & SECTION_MEMORY) {
		int err = text_memory(out, model, results, options);

		if (err)
			return err;
	}
	if (results->stacks && options->sections & SECTION_STACKS) {
		int err = text_stacks(out, model, results, options);

		if (err)
			return err;
	}
	if (options->sections & SECTION_ADVICE) {
		int err = text_advice(out, model, results, options);

		if (!err)
			err = text_told_advice(out, model, options);

		if (err)
			return err;
	}
	if (results->python && options->sections & SECTION_PYTHON) {
		int err = text_python(out, model, results, options);

		if (err)
			return err;
	}
	return stream_flush(out);
}
