/* SPDX-License-Identifier: Apache-2.0 */
/* The page of report.html with the JSON report in it. */
#include <errno.h>
#include <string.h>

#include "analyzer/view/report.h"
#include "analyzer/view/render/written.h"

#define MARK "@REPORT@"

/* The page as it is in the tree; the Makefile says that this file depends on it. */
__asm__(".section .rodata\n"
	"report_page:\n"
	".incbin \"analyzer/view/report.html\"\n"
	".byte 0\n"
	".previous\n");
extern const char report_page[] __attribute__((visibility("hidden")));

/* In JSON < stands in strings only, where it may be written so; it would end the page's script. */
static ssize_t write_escaped(void *cookie, const char *text, size_t size)
{
	FILE *out = cookie;
	size_t done = 0;

	while (done < size) {
		const char *mark = memchr(text + done, '<', size - done);
		size_t plain = mark ? (size_t)(mark - text) - done : size - done;

		if (fwrite(text + done, 1, plain, out) != plain)
			return 0;
		done += plain;
		if (mark) {
			if (fputs("\\u003c", out) < 0)
				return 0;
			done++;
		}
	}
	return (ssize_t)size;
}

int report_html(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	const cookie_io_functions_t functions = { .write = write_escaped };
	const char *mark = strstr(report_page, MARK);
	FILE *json;
	int err;

	if (!mark || fwrite(report_page, 1, (size_t)(mark - report_page), out) !=
			     (size_t)(mark - report_page))
		return -EIO;
	json = fopencookie(out, "w", functions);
	if (!json)
		return -ENOMEM;
	err = report_json(json, model, results, options);
	if (fclose(json) != 0 && !err)
		err = -EIO;
	if (!err && fputs(mark + strlen(MARK), out) < 0)
		err = -EIO;
	return err ? err : stream_flush(out);
}
