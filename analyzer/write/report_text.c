/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/write/report_device.h"
#include "analyzer/write/report_parts.h"
#include "analyzer/write/table.h"

uint32_t rows_shown(const struct report_options *options, uint32_t count)
{
	return options->top && options->top < count ? options->top : count;
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
	{ SECTION_TRACE, text_trace }, { SECTION_CAPTURE, text_capture },
	{ SECTION_HOST, text_host },   { SECTION_PROCESSES, text_processes },
	{ SECTION_API, text_api },     { SECTION_IOCTL, text_ioctl },
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
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
