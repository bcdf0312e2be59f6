/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/report_parts.h"
#include "analyzer/model/translate.h"
#include "analyzer/view/sections.h"
#include "analyzer/view/render/written.h"
#include "analyzer/view/render/table.h"

uint32_t rows_shown(const struct report_options *options, uint32_t count)
{
	return options->top && options->top < count ? options->top : count;
}

void text_more(FILE *out, const char *what, uint32_t count, uint32_t shown)
{
	if (shown < count)
		fprintf(out, tr("... and %u more %s (--top 0 shows all)\n"), count - shown, tr(what));
}

int report_text(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	struct report report;
	int err = report_init(&report, model, results, options);

	report.out = out;
	for (size_t i = 0; i < SECTION_COUNT && !err; i++) {
		if (options->sections & 1u << i)
			err = sections[i]->text(&report);
	}
	report_free(&report);
	return err ? err : stream_flush(out);
}
