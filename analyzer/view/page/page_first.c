/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/page/page_first.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/view/page/page_text.h"
#include "analyzer/view/page/page_tree.h"

#define TABLE_ROWS 20 /* in the tables for readers without scripts */
#define PATH_SIZE 256

static const char *text_at(yajl_val report, const char *path)
{
	yajl_val value = page_tree_get(report, path);

	return YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : NULL;
}

static const char *state_title(const char *state)
{
	static const struct {
		const char *state, *title;
	} TITLES[] = {
		{ "data", "Starved for data" },
		{ "cpu", "Starved by CPUs" },
		{ "host_code", "Held up by the host’s own code" },
		{ "device", "The device itself" },
		{ "communication", "Held up by other ranks" },
		{ "healthy", "Healthy" },
	};

	for (size_t i = 0; i < sizeof(TITLES) / sizeof(TITLES[0]); i++)
		if (strcmp(TITLES[i].state, state) == 0)
			return TITLES[i].title;
	return "Not known";
}

static const char *whole(const char *of)
{
	if (strcmp(of, "device_time") == 0)
		return "of the device’s time";
	return strcmp(of, "step_time") == 0 ? "of the steps’ time" : "of the time";
}

/* Writes a word and the figure at @path, if there is one. */
static void put_named(FILE *out, yajl_val report, const char *word, const char *path)
{
	if (!page_tree_get(report, path))
		return;
	fprintf(out, " %s", word);
	page_figure(out, report, path);
}

/* Is the verdict's root one of the rows of what the threads did on a CPU? */
static bool is_run(yajl_val report)
{
	yajl_val ns = page_tree_get(report, "verdict.root.ns");
	const char *who = text_at(report, "verdict.root.who");
	char path[PATH_SIZE];

	for (unsigned int i = 0; ns && who; i++) {
		const char *other;
		yajl_val row;

		snprintf(path, sizeof(path), "waits.run.%u.ns", i);
		row = page_tree_get(report, path);
		snprintf(path, sizeof(path), "waits.run.%u.who", i);
		other = text_at(report, path);
		if (!YAJL_IS_NUMBER(row) || !YAJL_IS_NUMBER(ns))
			return false;
		if (other && strcmp(who, other) == 0 && strcmp(YAJL_GET_NUMBER(row), YAJL_GET_NUMBER(ns)) == 0)
			return true;
	}
	return false;
}

/* What the root's share is of: with --thread there are roots of both, and the verdict is about the threads. */
static const char *root_whole(yajl_val report)
{
	if (page_tree_get(report, "idle.roots.0.ns") && !page_tree_get(report, "waits.of"))
		return "the idle time";
	return is_run(report) ? "the time on a CPU" : "the waiting time";
}

static void put_root(FILE *out, yajl_val report)
{
	if (!page_tree_get(report, "verdict.root"))
		return;
	fputs("<dt>Root</dt><dd>", out);
	page_figure(out, report, "verdict.root.who");
	put_named(out, report, "", "verdict.root.where");
	put_named(out, report, "on ", "verdict.root.object");
	put_named(out, report, "· ", "verdict.root.cause");
	put_named(out, report, "· ", "verdict.root.percent");
	fprintf(out, " of %s</dd>", root_whole(report));
}

static void put_verdict(FILE *out, yajl_val report)
{
	const char *state = text_at(report, "verdict.state"), *of = text_at(report, "verdict.of");

	if (!state)
		return;
	fputs("<section id=\"verdict\" data-state=\"", out);
	page_escaped(out, state);
	fprintf(out, "\"><h2>%s</h2>", state_title(state));
	if (page_tree_get(report, "verdict.percent")) {
		fputs("<p class=\"number\">", out);
		page_figure(out, report, "verdict.percent");
		fprintf(out, " <small>%s</small></p>", whole(of ? of : ""));
	}
	fputs("<p>", out);
	page_figure(out, report, "verdict.sentence");
	fputs("</p><dl>", out);
	put_root(out, report);
	if (page_tree_get(report, "verdict.do")) {
		fputs("<dt>Remedy</dt><dd>", out);
		page_figure(out, report, "verdict.do");
		fputs("</dd>", out);
	}
	if (page_tree_get(report, "verdict.gain_at_most_percent")) {
		fputs("<dt>Gain</dt><dd>at most ", out);
		page_figure(out, report, "verdict.gain_at_most_percent");
		fprintf(out, " %s</dd>", whole(of ? of : ""));
	}
	if (page_tree_get(report, "verdict.each")) {
		fputs("<dt>Each job</dt><dd>", out);
		page_figure(out, report, "verdict.each");
		fputs("</dd>", out);
	}
	fputs("</dl></section>", out);
}

/* Are the bounds so wide that they say nothing? */
static bool says_nothing(yajl_val least, yajl_val most)
{
	return least && most && YAJL_IS_NUMBER(least) && YAJL_IS_NUMBER(most) &&
	       YAJL_GET_DOUBLE(least) < 0.05 && YAJL_GET_DOUBLE(most) > 99.95;
}

/* Writes the device's busy share: the exact value, or the two bounds from the calls that wait for it. */
static void put_busy(FILE *out, yajl_val report)
{
	static const char LEAST[] = "waits.device_busy_at_least_percent", MOST[] = "waits.device_busy_at_most_percent";
	static const char EXACT[] = "devices.0.utilization_percent";

	fputs("<div><dt>Device busy</dt><dd>", out);
	if (page_tree_get(report, EXACT)) {
		page_figure(out, report, EXACT);
	} else if (says_nothing(page_tree_get(report, LEAST), page_tree_get(report, MOST))) {
		fputs("<span class=\"unknown\">unknown</span> <small>no device tasks are known, and no call waits for a device</small>", out);
	} else if (page_tree_get(report, LEAST) && page_tree_get(report, MOST)) {
		page_figure(out, report, LEAST);
		fputs(" to ", out);
		page_figure(out, report, MOST);
	} else if (page_tree_get(report, MOST)) {
		fputs("≤ ", out);
		page_figure(out, report, MOST);
	} else {
		fputs("<span class=\"unknown\">unknown</span> <small>no device tasks are known</small>", out);
	}
	fputs("</dd></div>", out);
}

/* Writes the first of the paths (up to NULL) that the report contains. */
static void put_tile(FILE *out, yajl_val report, const char *title, const char *const *paths,
		     const char *without, const char *of)
{
	while (*paths && !page_tree_get(report, *paths))
		paths++;
	fprintf(out, "<div><dt>%s</dt><dd>", title);
	if (*paths) {
		page_figure(out, report, *paths);
		if (*of)
			fprintf(out, " <small>%s</small>", of);
	} else {
		fprintf(out, "<span class=\"unknown\">unknown</span> <small>%s</small>", without);
	}
	fputs("</dd></div>", out);
}

static void put_headline(FILE *out, yajl_val report)
{
	static const char *const HALF[] = { "steps.p50_ns", NULL };
	static const char *const MOST[] = { "steps.p99_ns", NULL };
	static const char *const CPU[] = { "host.utilization_percent", NULL };
	static const char *const DATA[] = { "steps.data_wait_percent", NULL };

	fputs("<dl class=\"tiles\" aria-label=\"Headline figures\">", out);
	put_busy(out, report);
	put_tile(out, report, "Step time, median", HALF, "no steps found", "");
	put_tile(out, report, "Step time, 99th percentile", MOST, "no steps found", "");
	put_tile(out, report, "CPUs busy", CPU, "not recorded", "");
	put_tile(out, report, "Waiting for data", DATA, "no data pipeline found", "of all steps, including the first");
	fputs("</dl>", out);
}

/* ---- Tables for readers without scripts */

static const struct plain {
	const char *path, *title;
	const char *columns; /* names separated by blanks */
} TABLES[] = {
	{ "devices", "Devices", "id name tasks busy_ns idle_ns utilization_percent" },
	{ "idle.roots", "Why devices were idle", "cause who where object ns percent gaps" },
	{ "waits.roots", "What was waited for", "cause who where object ns percent" },
	{ "processes", "Processes", "pid name utilization_percent run_ns runnable_ns blocked_ns" },
	{ "operators", "Operators of devices", "name type count total_ns mean_ns percent" },
	{ "api", "Runtime calls", "runtime function kind pid count total_ns mean_ns max_ns" },
	{ "capture.sources", "What was recorded", "name produced delivered lost" },
};

/* Words the heading as values.js does, except for names that only the script knows. */
static void put_heading(FILE *out, const char *name, size_t length)
{
	char text[64];

	if (length > 3 && strncmp(name + length - 3, "_ns", 3) == 0)
		length -= 3;
	snprintf(text, sizeof(text), "%.*s", (int)length, name);
	if (strcmp(text, "ns") == 0)
		strcpy(text, "time");
	else if (strcmp(text, "percent") == 0)
		strcpy(text, "share");
	else if (strcmp(text, "utilization_percent") == 0)
		strcpy(text, "utilization");
	else if (strcmp(text, "pid") == 0)
		strcpy(text, "process");
	for (char *c = text; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	text[0] = (char)toupper((unsigned char)text[0]);
	fprintf(out, "<th scope=\"col\">%s</th>", text);
}

static void put_row(FILE *out, yajl_val report, const struct plain *table, size_t row)
{
	const char *name = table->columns;

	fputs("<tr>", out);
	while (*name) {
		size_t length = strcspn(name, " ");
		char path[PATH_SIZE];

		snprintf(path, sizeof(path), "%s.%zu.%.*s", table->path, row, (int)length, name);
		fputs("<td>", out);
		page_figure(out, report, path);
		fputs("</td>", out);
		name += length + (name[length] == ' ');
	}
	fputs("</tr>\n", out);
}

static void put_table(FILE *out, yajl_val report, const struct plain *table)
{
	yajl_val rows = page_tree_get(report, table->path);

	if (!YAJL_IS_ARRAY(rows) || !rows->u.array.len)
		return;
	fprintf(out, "<section><h2>%s</h2><div class=\"table\"><table><thead><tr>", table->title);
	for (const char *name = table->columns; *name;) {
		size_t length = strcspn(name, " ");

		put_heading(out, name, length);
		name += length + (name[length] == ' ');
	}
	fputs("</tr></thead><tbody>\n", out);
	for (size_t i = 0; i < rows->u.array.len && i < TABLE_ROWS; i++)
		put_row(out, report, table, i);
	fputs("</tbody></table></div></section>\n", out);
}

int page_first(FILE *out, yajl_val report)
{
	fputs("<div id=\"first\"><div id=\"judged\">", out);
	put_verdict(out, report);
	put_headline(out, report);
	fputs("</div><div id=\"over-time\"></div></div>\n<div id=\"plain\">", out);
	for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]); i++)
		put_table(out, report, &TABLES[i]);
	fputs("</div>", out);
	return ferror(out) ? -EIO : 0;
}
