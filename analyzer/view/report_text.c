/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/report_parts.h"

#include <string.h>

#include "analyzer/model/translate.h"
#include "analyzer/view/sections.h"
#include "analyzer/view/render/written.h"
#include "analyzer/view/render/table.h"
#include "analyzer/view/render/wrap.h"
#include "lib/base/duration.h"

uint32_t rows_shown(const struct report_options *options, uint32_t count)
{
	return options->top && options->top < count ? options->top : count;
}

char *text_window(uint64_t ns, char *into, size_t size)
{
	if (ns < 1000000)
		return duration_format(ns, into, size);
	snprintf(into, size, "%.3f s", (double)ns / 1e9);
	return into;
}

const char *text_one_of(const char *what, uint64_t count, char *into, size_t size)
{
	size_t length = strcspn(what, " ");

	/* "such gaps", but "files in part" */
	if (strncmp(what, "such ", 5) == 0)
		length = 5 + strcspn(what + 5, " ");
	if (count != 1 || !length || what[length - 1] != 's')
		return what;
	snprintf(into, size, "%.*s%s",
		 (int)(length - (length > 4 && (!strncmp(what + length - 4, "sses", 4) ||
						!strncmp(what + length - 4, "ches", 4))
					 ? 2
					 : 1)),
		 what, what + length);
	return into;
}

void text_more(FILE *out, const char *what, uint32_t count, uint32_t shown)
{
	char one[64];

	if (shown < count)
		fprintf(out, tr("... and %u more %s (--top 0 shows all)\n"), count - shown,
			text_one_of(tr(what), count - shown, one, sizeof(one)));
}

static bool leaves_out(const struct report *report, const struct section *section)
{
	return !report->options->named && section->empty && section->empty(report);
}

/* A section that is missing could otherwise be taken for one that the analyzer does not have. */
static void tell_left_out(const struct report *report)
{
#define SECTION_NAME(NAME, name) #name,
	static const char *const NAMES[] = { SECTIONS(SECTION_NAME, SECTION_NAME) };
#undef SECTION_NAME
	char text[512];
	size_t length = 0;

	for (size_t i = 0; i < SECTION_COUNT; i++) {
		if (report->options->sections & 1u << i && leaves_out(report, sections[i]))
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
						   length ? ", " : "", NAMES[i]);
	}
	if (!length)
		return;
	snprintf(text + length, sizeof(text) - length, " (--section NAME tells more)");
	fputc('\n', report->out);
	wrap_line(report->out, "Nothing to show in:", 20, text, report->options->width);
}

int report_text(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	struct report report;
	int err = report_init(&report, model, results, options);

	report.out = out;
	for (size_t i = 0; i < SECTION_COUNT && !err; i++) {
		if (options->sections & 1u << i && !leaves_out(&report, sections[i]))
			err = sections[i]->text(&report);
	}
	if (!err)
		tell_left_out(&report);
	report_free(&report);
	return err ? err : stream_flush(out);
}
