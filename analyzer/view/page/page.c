/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - the JSON report as a page: page.html with the first screen, the packed report and the scripts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/view/page/page_data.h"
#include "analyzer/view/page/page_fill.h"
#include "analyzer/view/page/page_first.h"
#include "analyzer/view/page/page_pack.h"
#include "analyzer/view/page/page_tree.h"
#include "analyzer/view/report.h"

#define PACKED_MAX (3u << 20) /* bytes of the packed report; above it, lists are cut to fewer rows */
#define ROWS_MOST 2000
#define ROWS_LEAST 16

/* Files of the source tree and of the build folder; the Makefile contains the dependency of this file on them. */
EMBED(page_template, "analyzer/view/page/page.html")
EMBED(page_style, "analyzer/view/page/page.css")
EMBED(page_script, PAGE_SCRIPT)
EMBED(page_library, PAGE_LIBRARY)

struct page {
	yajl_val report;
	const struct model *model;
	const struct results *results;
	const struct report_options *options;
};

static int put_style(FILE *out, const void *page)
{
	(void)page;
	return fputs(page_style, out) < 0 ? -EIO : 0;
}

static int put_script(FILE *out, const void *page)
{
	(void)page;
	return fputs(page_script, out) < 0 ? -EIO : 0;
}

/* The library is empty if it was not available at build time. */
static int put_library(FILE *out, const void *page)
{
	(void)page;
	return fputs(page_library, out) < 0 ? -EIO : 0;
}

static int put_first(FILE *out, const void *data)
{
	const struct page *page = data;

	return page_first(out, page->report);
}

/* Packs the report with at most @rows rows of each list; the caller frees *text. */
static int pack_report(yajl_val report, size_t rows, char **text, size_t *size)
{
	char *plain = NULL;
	size_t plain_size = 0;
	FILE *out = open_memstream(&plain, &plain_size);
	int err = out ? page_tree_write(out, report, rows) : -ENOMEM;

	if (out && fclose(out) != 0 && !err)
		err = -ENOMEM;
	out = err ? NULL : open_memstream(text, size);
	if (out) {
		err = page_pack(out, plain, plain_size);
		if (fclose(out) != 0 && !err)
			err = -ENOMEM;
	} else if (!err) {
		err = -ENOMEM;
	}
	free(plain);
	return err;
}

static int put_report(FILE *out, const void *data)
{
	const struct page *page = data;
	size_t rows = ROWS_MOST, size;
	char *text;
	int err;

	for (;;) {
		text = NULL;
		err = pack_report(page->report, rows, &text, &size);
		if (err || size <= PACKED_MAX || rows <= ROWS_LEAST)
			break;
		free(text);
		rows /= 2;
	}
	if (!err && fputs(text, out) < 0)
		err = -EIO;
	free(text);
	return err;
}

static int put_data(FILE *out, const void *data)
{
	const struct page *page = data;
	char *text = NULL;
	size_t size = 0;
	FILE *plain = open_memstream(&text, &size);
	int err = plain ? page_data_write(plain, page->model, page->results, page->options)
			: -ENOMEM;

	if (plain && fclose(plain) != 0 && !err)
		err = -ENOMEM;
	if (!err)
		err = page_pack(out, text, size);
	free(text);
	return err;
}

static const struct page_part PARTS[] = {
	{ "@STYLE@", put_style },   { "@FIRST@", put_first },	  { "@REPORT@", put_report },
	{ "@PICTURES@", put_data }, { "@LIBRARY@", put_library }, { "@SCRIPT@", put_script },
};

int report_html(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	struct page page = { .model = model, .results = results, .options = options };
	char *text = NULL;
	size_t size = 0;
	FILE *json = open_memstream(&text, &size);
	int err = json ? report_json(json, model, results, options) : -ENOMEM;

	if (json && fclose(json) != 0 && !err)
		err = -ENOMEM;
	if (!err) {
		page.report = page_tree_parse(text);
		err = page.report ? 0 : -ENOMEM;
	}
	free(text);
	if (!err)
		err = page_fill(out, page_template, PARTS, sizeof(PARTS) / sizeof(PARTS[0]), &page);
	yajl_tree_free(page.report);
	return err;
}
