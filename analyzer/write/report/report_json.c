/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "analyzer/write/report/report_device.h"
#include "analyzer/write/report/report_parts.h"

#define SCHEMA "profbpf.report/1"

typedef void json_fn(struct json *json, const struct model *model, const struct results *results);

struct json_section {
	uint32_t section;
	json_fn *write;
};

static const struct json_section SECTIONS[] = {
	{ SECTION_VERDICT, json_verdict_section },     { SECTION_TRACE, json_trace_section },
	{ SECTION_CAPTURE, json_capture_section },     { SECTION_HOST, json_host_section },
	{ SECTION_PROCESSES, json_processes_section }, { SECTION_PIPELINE, json_pipeline_section },
	{ SECTION_STEPS, json_steps_section },	       { SECTION_API, json_api_section },
	{ SECTION_IOCTL, json_ioctl_section },	       { SECTION_IO, json_io_section },
};

int report_json(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	struct json *json = json_new(out, true);

	if (!json)
		return -ENOMEM;
	json_map(json, NULL);
	json_text(json, "schema", SCHEMA);
	for (size_t i = 0; i < sizeof(SECTIONS) / sizeof(SECTIONS[0]); i++) {
		if (options->sections & SECTIONS[i].section)
			SECTIONS[i].write(json, model, results);
	}
	if (results->devices)
		report_json_device_sections(json, model, results->devices, options);
	if (results->cluster && options->sections & SECTION_CLUSTER)
		json_cluster_section(json, model, results);
	if (results->operator_steps && options->sections & SECTION_SHAPES)
		json_shapes_section(json, model, results);
	if (results->memory && options->sections & SECTION_MEMORY)
		json_memory_section(json, model, results);
	if (results->stacks && options->sections & SECTION_STACKS)
		json_stacks_section(json, model, results);
	if (options->sections & SECTION_ADVICE)
		json_advice_section(json, model, results);
	if (results->python && options->sections & SECTION_PYTHON)
		json_python_section(json, model, results);
	json_map_close(json);
	return json_end(json);
}
