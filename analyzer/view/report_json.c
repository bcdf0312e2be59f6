/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "analyzer/view/sections.h"

void section_json(const struct report *report, const struct section *section)
{
	if (section->json) {
		section->json(report);
		return;
	}
	if (section->key)
		json_map(report->json, section->key);
	for (const struct view *const *view = section->views; *view; view++)
		view_json(report, *view);
	if (section->key)
		json_map_close(report->json);
}

static void write_sections(struct report *report)
{
	json_map(report->json, NULL);
	json_text(report->json, "schema", REPORT_SCHEMA);
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		if (report->options->sections & 1u << i)
			section_json(report, sections[i]);
	}
	json_map_close(report->json);
}

int report_json(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	struct report report;
	int err = report_init(&report, model, results, options);

	report.json = err ? NULL : json_new(out, true);
	if (report.json) {
		write_sections(&report);
		err = json_end(report.json);
	} else {
		err = -ENOMEM;
	}
	report_free(&report);
	return err;
}
