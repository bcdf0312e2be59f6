/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_page.c - a comparison as a page: diff.html with the result, the largest changes, and a table for each kind of
 * figure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/view/diff.h"
#include "analyzer/view/page/page_fill.h"
#include "analyzer/view/page/page_text.h"
#include "analyzer/view/page/page_tree.h"

#define MOST_SHOWN 8 /* changes in the first screen */
#define TEXT_SIZE 64
#define STRIP_WIDTH 184.0 /* width of the picture of the parts, in its own units */
#define STRIP_MARGIN 6.0

/* The Makefile contains the dependency of this file on them. */
EMBED(diff_template, "analyzer/view/page/diff.html")
EMBED(diff_common_style, "analyzer/view/page/page.css")
EMBED(diff_style, "analyzer/view/page/diff.css")
EMBED(diff_script, "analyzer/view/page/diff.js")

struct diff_page {
	const struct changes *changes;
	yajl_val json; /* output of diff_json(): rows have the same numbers there */
};

static const char *const TITLES[FIGURE_KINDS] = {
	[FIGURE_STEP] = "Steps",
	[FIGURE_DEVICE] = "Devices",
	[FIGURE_ROOT] = "What was waited for, and what ran meanwhile",
	[FIGURE_STAGE] = "Data pipeline",
	[FIGURE_OPERATOR] = "Operators of devices",
	[FIGURE_API] = "Runtime calls",
	[FIGURE_CPU] = "Host",
	[FIGURE_PROCESS] = "Processes",
};

static const char *const MEANINGS[FIGURE_KINDS] = {
	[FIGURE_STEP] = "mean duration",
	[FIGURE_DEVICE] = "share of their time",
	[FIGURE_ROOT] = "share of the devices’ time, or of the time of the threads that represent them",
	[FIGURE_STAGE] = "CPUs that it used, 100 % is one CPU",
	[FIGURE_OPERATOR] = "mean duration",
	[FIGURE_API] = "mean duration of a call",
	[FIGURE_CPU] = "share of all CPUs in use",
	[FIGURE_PROCESS] = "CPUs used by the processes of that name, 100 % is one CPU",
};

/* ---- A single figure */

static const char *path_of(uint32_t row, const char *key, char *path, size_t size)
{
	snprintf(path, size, "changes.%u.%s", row, key);
	return path;
}

static void put_value(FILE *out, const struct diff_page *page, uint32_t row, const char *key)
{
	const char *unit = figure_is_share(page->changes->row[row].kind) ? "percent" : "ns";
	char path[TEXT_SIZE];

	page_figure_as(out, page->json, path_of(row, key, path, sizeof(path)), unit);
}

/* Writes the words of the text report, which say what a difference is relative to. */
static void put_words(FILE *out, const struct diff_page *page, uint32_t row, const char *key,
		      const char *(*words)(const struct change *change, char *text, size_t size))
{
	char path[TEXT_SIZE], text[TEXT_SIZE];

	if (!page_figure_begin(out, page->json, path_of(row, key, path, sizeof(path))))
		return;
	page_escaped(out, words(&page->changes->row[row], text, sizeof(text)));
	fputs("</span>", out);
}

static void widen(const double *values, unsigned int count, double *low, double *high)
{
	for (unsigned int i = 0; i < count; i++) {
		*low = values[i] < *low ? values[i] : *low;
		*high = values[i] > *high ? values[i] : *high;
	}
}

struct scale {
	double low, high;
};

static double x_of(const struct scale *scale, double value)
{
	double span = scale->high > scale->low ? scale->high - scale->low : 1;

	return STRIP_MARGIN + (STRIP_WIDTH - 2 * STRIP_MARGIN) * (value - scale->low) / span;
}

static void put_mean(FILE *out, const struct scale *scale, double value, int y, const char *which)
{
	double x = x_of(scale, value);

	fprintf(out, "<line class=\"mean%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", which,
		x, x, y - 7, y + 7);
}

/* Draws the values of the parts, before and below it after, and the range of noise around the mean before. */
static void put_strip(FILE *out, const struct change *row)
{
	struct scale scale = { row->before - row->noise, row->before + row->noise };
	double left, right;

	widen(row->before_part, row->before_parts, &scale.low, &scale.high);
	widen(row->after_part, row->after_parts, &scale.low, &scale.high);
	left = x_of(&scale, row->before - row->noise);
	right = x_of(&scale, row->before + row->noise);
	fprintf(out,
		"<svg class=\"strip\" viewBox=\"0 0 %.0f 32\" role=\"img\" aria-label=\"%u parts before, "
		"%u after; the mean after lies %s the noise\"><rect class=\"band\" x=\"%.1f\" y=\"0\" "
		"width=\"%.1f\" height=\"32\"/>",
		STRIP_WIDTH, row->before_parts, row->after_parts,
		row->significant ? "beyond" : "within", left, right - left);
	for (unsigned int i = 0; i < row->before_parts; i++)
		fprintf(out, "<circle class=\"before\" cx=\"%.1f\" cy=\"9\" r=\"3\"/>",
			x_of(&scale, row->before_part[i]));
	for (unsigned int i = 0; i < row->after_parts; i++)
		fprintf(out,
			"<rect class=\"after\" x=\"%.1f\" y=\"20\" width=\"5\" height=\"5\"/>",
			x_of(&scale, row->after_part[i]) - 2.5);
	put_mean(out, &scale, row->before, 9, "");
	put_mean(out, &scale, row->after, 23, " of-after");
	fputs("</svg>", out);
}

/* ---- The first screen */

static const char *title_of(const char *state)
{
	if (strcmp(state, "worse") == 0)
		return "Slower";
	if (strcmp(state, "better") == 0)
		return "Faster";
	if (strcmp(state, "changed") == 0)
		return "Changed, but not the steps’ time";
	return strcmp(state, "unchanged") == 0 ? "Nothing changed" : "Nothing to compare";
}

/* Returns the number of the first row of the kind; changes->count if there is none. */
static uint32_t row_of(const struct changes *changes, uint8_t kind)
{
	uint32_t i = 0;

	while (i < changes->count && changes->row[i].kind != kind)
		i++;
	return i;
}

static void put_side(FILE *out, const struct diff_page *page, const char *title, const char *key)
{
	char path[TEXT_SIZE];

	fprintf(out, "<dt>%s</dt><dd>", title);
	snprintf(path, sizeof(path), "%s.file", key);
	page_figure(out, page->json, path);
	fputs(", ", out);
	snprintf(path, sizeof(path), "%s.from_ns", key);
	page_figure(out, page->json, path);
	fputs(" to ", out);
	snprintf(path, sizeof(path), "%s.to_ns", key);
	page_figure(out, page->json, path);
	fputs("</dd>", out);
}

static void put_verdict(FILE *out, const struct diff_page *page)
{
	const char *state = diff_state(page->changes);
	uint32_t step = row_of(page->changes, FIGURE_STEP);

	/* Without steps there is no "time" that could be unchanged. */
	fprintf(out, "<section id=\"verdict\" data-state=\"%s\"><h2>%s</h2>", state,
		strcmp(state, "changed") == 0 && step == page->changes->count ? "Changed"
									      : title_of(state));
	if (step < page->changes->count) {
		fputs("<p class=\"number\">", out);
		put_words(out, page, step, "change", diff_change_text);
		fputs(" <small>of a step’s time</small></p>", out);
	}
	fputs("<p>", out);
	page_figure(out, page->json, "verdict.sentence");
	fputs("</p><dl>", out);
	put_side(out, page, "Before", "before");
	put_side(out, page, "After", "after");
	fputs("</dl></section>", out);
}

static void put_tile(FILE *out, const struct diff_page *page, const char *title, uint8_t kind,
		     const char *without)
{
	uint32_t row = row_of(page->changes, kind);

	fprintf(out, "<div><dt>%s</dt><dd>", title);
	if (row == page->changes->count) {
		fprintf(out, "<span class=\"unknown\">unknown</span> <small>%s</small></dd></div>",
			without);
		return;
	}
	put_value(out, page, row, "before");
	fputs(" → ", out);
	put_value(out, page, row, "after");
	fputs(" <small>", out);
	put_words(out, page, row, "change", diff_change_text);
	fputs(", noise ", out);
	put_words(out, page, row, "noise", diff_noise_text);
	fputs("</small></dd></div>", out);
}

static void put_tiles(FILE *out, const struct diff_page *page)
{
	fputs("<dl class=\"tiles\" aria-label=\"Headline figures\">", out);
	put_tile(out, page, "Step time", FIGURE_STEP,
		 page->changes->steps_too_few ? "steps in too few parts of a recording" : "no steps in both");
	put_tile(out, page, "Devices busy", FIGURE_DEVICE, "device tasks are not known in both");
	put_tile(out, page, "CPUs busy", FIGURE_CPU, "not recorded in both");
	fputs("<div><dt>Beyond noise</dt><dd>", out);
	page_figure(out, page->json, "significant");
	fputs(" <small>of ", out);
	page_figure(out, page->json, "compared");
	fputs(" figures compared</small></dd></div></dl>", out);
}

static void put_row(FILE *out, const struct diff_page *page, uint32_t number, bool with_kind)
{
	const struct change *row = &page->changes->row[number];
	char path[TEXT_SIZE];

	fprintf(out, "<tr%s>", row->significant ? " class=\"beyond\"" : "");
	if (with_kind) {
		fputs("<td>", out);
		page_figure(out, page->json, path_of(number, "what", path, sizeof(path)));
		fputs("</td>", out);
	}
	fputs("<td>", out);
	page_figure(out, page->json, path_of(number, "name", path, sizeof(path)));
	fputs("</td><td class=\"n\">", out);
	put_value(out, page, number, "before");
	fputs("</td><td class=\"n\">", out);
	put_value(out, page, number, "after");
	fputs("</td><td class=\"n\">", out);
	put_words(out, page, number, "change", diff_change_text);
	fputs("</td><td class=\"n noise\">", out);
	put_words(out, page, number, "noise", diff_noise_text);
	if (!with_kind)
		fprintf(out, "</td><td class=\"said\">%s", !row->significant ? "within noise" :
			row->after > row->before ? "▲ more" : "▼ less");
	fputs("</td><td class=\"parts\">", out);
	put_strip(out, row);
	fputs("</td></tr>\n", out);
}

static void put_headings(FILE *out, bool with_kind)
{
	static const struct {
		const char *name, *class;
		bool with_kind, without;
	} columns[] = {
		{ "What", "", true, false },	 { "Name", "", true, true },
		{ "Before", " n", true, true },	 { "After", " n", true, true },
		{ "Change", " n", true, true },	 { "Noise", " n noise", true, true },
		{ "Judgement", "", false, true },
	};

	fputs("<thead><tr>", out);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (with_kind ? columns[i].with_kind : columns[i].without)
			fprintf(out,
				"<th scope=\"col\" class=\"col%s\" aria-sort=\"none\">"
				"<button type=\"button\">%s</button></th>",
				columns[i].class, columns[i].name);
	fputs("<th scope=\"col\" class=\"parts\">Parts: <svg class=\"key strip\" viewBox=\"0 0 8 8\" "
	      "role=\"img\" aria-label=\"circle\"><circle class=\"before\" cx=\"4\" cy=\"4\" r=\"3\"/></svg>"
	      "before <svg class=\"key strip\" viewBox=\"0 0 8 8\" role=\"img\" aria-label=\"square\">"
	      "<rect class=\"after\" x=\"1.5\" y=\"1.5\" width=\"5\" height=\"5\"/></svg>after"
	      "</th></tr></thead><tbody>\n",
	      out);
}

/* Writes the largest changes kind by kind: the most important kind for a job comes first, whatever its unit. */
static void put_most(FILE *out, const struct diff_page *page)
{
	uint32_t shown = 0;

	for (uint8_t kind = 0; kind < FIGURE_KINDS; kind++) {
		for (uint32_t i = 0; i < page->changes->count && shown < MOST_SHOWN; i++) {
			const struct change *row = &page->changes->row[i];

			if (row->kind == kind && row->significant && ++shown)
				put_row(out, page, i, true);
		}
	}
}

static int put_first(FILE *out, const void *data)
{
	const struct diff_page *page = data;

	fputs("<div id=\"first\"><div id=\"judged\">", out);
	put_verdict(out, page);
	put_tiles(out, page);
	fputs("</div>", out);
	if (page->changes->significant) {
		fputs("<section id=\"most\"><h2>Changed beyond noise</h2><div class=\"table\" "
		      "tabindex=\"0\" role=\"region\" aria-label=\"Changed beyond noise\"><table>",
		      out);
		put_headings(out, true);
		put_most(out, page);
		fputs("</tbody></table></div></section>", out);
	}
	fputs("</div>\n", out);
	return ferror(out) ? -EIO : 0;
}

/* ---- All figures by kind */

static void put_kind(FILE *out, const struct diff_page *page, uint8_t kind)
{
	if (row_of(page->changes, kind) == page->changes->count)
		return;
	fprintf(out,
		"<section class=\"kind\" id=\"%s\"><h2>%s</h2><p class=\"note\">%s</p>"
		"<div class=\"tools\"><button type=\"button\" data-csv=\"%s\" aria-label=\"%s as CSV\">CSV"
		"</button></div><div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>",
		figure_kind_name(kind), TITLES[kind], MEANINGS[kind], figure_kind_name(kind),
		TITLES[kind], TITLES[kind]);
	put_headings(out, false);
	for (uint32_t i = 0; i < page->changes->count; i++)
		if (page->changes->row[i].kind == kind)
			put_row(out, page, i, false);
	fputs("</tbody></table></div></section>\n", out);
}

static int put_tables(FILE *out, const void *data)
{
	for (uint8_t kind = 0; kind < FIGURE_KINDS; kind++)
		put_kind(out, data, kind);
	return ferror(out) ? -EIO : 0;
}

static int put_style(FILE *out, const void *data)
{
	(void)data;
	return fputs(diff_common_style, out) < 0 || fputs(diff_style, out) < 0 ? -EIO : 0;
}

static int put_script(FILE *out, const void *data)
{
	(void)data;
	return fputs(diff_script, out) < 0 ? -EIO : 0;
}

static int put_noise(FILE *out, const void *data)
{
	(void)data;
	fprintf(out,
		"Each recording was cut into %d parts of equal length. The noise of a change "
		"follows from the differences between parts of one recording: %g standard errors "
		"of the difference of the two means, and at least %g %% of a duration or %g points "
		"of a share. A change within the noise may be chance. The grey band is the noise "
		"around the mean before.",
		CHANGE_PARTS, NOISE_ERRORS, NOISE_PERCENT, NOISE_POINTS);
	return ferror(out) ? -EIO : 0;
}

static const struct page_part PARTS[] = {
	{ "@STYLE@", put_style }, { "@FIRST@", put_first },   { "@TABLES@", put_tables },
	{ "@NOISE@", put_noise }, { "@SCRIPT@", put_script },
};

int diff_html(FILE *out, const struct diff *diff)
{
	struct diff_page page = { .changes = &diff->changes };
	char *text = NULL;
	size_t size = 0;
	FILE *json = open_memstream(&text, &size);
	int err = json ? diff_json(json, diff) : -ENOMEM;

	if (json && fclose(json) != 0 && !err)
		err = -ENOMEM;
	if (!err) {
		page.json = page_tree_parse(text);
		err = page.json ? 0 : -ENOMEM;
	}
	free(text);
	if (!err)
		err = page_fill(out, diff_template, PARTS, sizeof(PARTS) / sizeof(PARTS[0]), &page);
	yajl_tree_free(page.json);
	return err;
}
