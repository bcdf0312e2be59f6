/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/file_damage.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/model/translate.h"
#include "analyzer/view/render/utf8.h"
#include "analyzer/view/render/wrap.h"
#include "analyzer/view/report_parts.h"

#define INDENT 9 /* the same as the overview's lines */
#define LINE_SIZE 2048

char *text_file_damage(const struct model *model, const struct import_finding *finding, char *into,
		       size_t size)
{
	const char *path = model_text(model, model->imports.row[finding->file].path);
	char text[LINE_SIZE];
	int used;

	if (!finding->damage)
		return NULL;
	used = snprintf(text, sizeof(text), "%s: %s", path, model_text(model, finding->what));
	if (finding->count > 1 && used > 0 && (size_t)used < sizeof(text))
		used += snprintf(text + used, sizeof(text) - (size_t)used, ": %" PRIu64 " times",
				 finding->count);
	if (finding->example && used > 0 && (size_t)used < sizeof(text))
		snprintf(text + used, sizeof(text) - (size_t)used, " (%s)",
			 model_text(model, finding->example));
	/* Names in a folder, and what a reader cites of a file, may be anything. */
	return printable(text, into, size);
}

void tell_file_damage(const struct report *report)
{
	const struct model *model = report->model;
	uint32_t count = 0, shown, told = 0;
	char text[LINE_SIZE];

	for (uint32_t i = 0; i < model->findings.count; i++)
		count += model->findings.row[i].damage;
	shown = rows_shown(report->options, count);
	for (uint32_t i = 0; i < model->findings.count && told < shown; i++) {
		if (text_file_damage(model, &model->findings.row[i], text, sizeof(text)))
			wrap_line(report->out, told++ ? "" : tr("in part"), INDENT, text,
				  report->options->width);
	}
	text_more(report->out, "files in part", count, shown);
}
