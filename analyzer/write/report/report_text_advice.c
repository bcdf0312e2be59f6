/* SPDX-License-Identifier: Apache-2.0 */
/* What to do. */
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

int text_advice(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	const struct advice_results *advice = results->advice;
	uint32_t shown;

	if (!advice || !advice->advice_count)
		return 0;
	shown = rows_shown(options, advice->advice_count);
	print_heading(out, options, "Advice");
	for (uint32_t i = 0; i < shown; i++) {
		const struct advice *row = &advice->list[i];

		fprintf(out, "%s: %s\n  because %s\n  do: %s\n", row->severity, row->title,
			row->evidence, row->remedy);
	}
	text_more(out, "pieces", advice->advice_count, shown);
	return 0;
}
