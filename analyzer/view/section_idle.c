/* SPDX-License-Identifier: Apache-2.0 */
/* The reasons for the devices' idle time: sums by cause and by root, and the longest gaps. */
#include <stdlib.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/idle/idle_verdict.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/alike.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/roots_view.h"
#include "analyzer/view/sections.h"

#define TEXT_SIZE 1200
#define PARTS_SHOWN 3 /* in each listed gap */

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- Sums */

static const struct view_column CAUSE_SHOWN[] = {
	{ "percent", .how = VIEW_TEXT, .heading = "idle %" },
	{ "ns" },
	{ "gaps" },
	{ "cause" },
	{ "who" },
	{ "percent", .how = VIEW_JSON },
	{ "thread.process.pid", .how = VIEW_JSON },
	{ "thread.tid", .how = VIEW_JSON },
	{ "detail", .how = VIEW_SHRINK | VIEW_BLANK, .heading = "in the longest case" },
	{ NULL },
};

static const struct view CAUSES = { "causes", "causes", &table_idle_causes, CAUSE_SHOWN,
				    .within = view_all };

/* ---- Gaps */

/* The sum of the parts of one gap with the same cause and the same who. */
struct share {
	uint8_t cause;
	uint32_t who;
	uint64_t ns;
};

static int by_share(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static int by_who(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return x->who < y->who ? -1 : x->who > y->who;
}

/* Returns the shares of a gap, largest first; the caller frees them. NULL without memory. */
static struct share *gap_shares(const struct idle_gap *gap, uint32_t *count)
{
	struct share *shares = calloc((size_t)gap->part_count + 1, sizeof(*shares));
	uint32_t last = 0;

	*count = 0;
	if (!shares)
		return NULL;
	for (uint32_t i = 0; i < gap->part_count; i++)
		shares[i] = (struct share){ gap->parts[i].cause, gap->parts[i].who,
					    gap->parts[i].end_ns - gap->parts[i].start_ns };
	qsort(shares, gap->part_count, sizeof(*shares), by_who);
	for (uint32_t i = 1; i < gap->part_count; i++) {
		if (by_who(&shares[last], &shares[i]) == 0)
			shares[last].ns += shares[i].ns;
		else
			shares[++last] = shares[i];
	}
	*count = gap->part_count ? last + 1 : 0;
	qsort(shares, *count, sizeof(*shares), by_share);
	return shares;
}

/* "lock ffmpeg 4711 82 %, user_code ffmpeg 4700 10 %": the significant shares. */
static struct cell shares_cell(struct table_cursor *at, const struct idle_gap *gap)
{
	uint64_t length_ns = gap->gap.end_ns - gap->gap.start_ns;
	char *text = report_of(at)->text;
	size_t used = 0;
	uint32_t count;
	struct share *shares = gap_shares(gap, &count);

	*text = '\0';
	for (uint32_t i = 0; i < count && i < PARTS_SHOWN; i++) {
		const char *who = model_text(at->of->model, shares[i].who);

		if (i > 0 && percent_of(shares[i].ns, length_ns) < 1)
			break;
		used += (size_t)snprintf(text + used, REPORT_TEXT_SIZE - used, "%s%s%s%.200s %.0f %%",
					 i ? ", " : "", idle_cause_name(shares[i].cause),
					 *who ? " " : "", who, percent_of(shares[i].ns, length_ns));
	}
	free(shares);
	return cell_text(text);
}

static struct cell task_cell(const struct model *model, uint32_t task)
{
	const char *name;

	if (task >= model->tasks.count)
		return cell_none();
	name = model_text(model, model->tasks.row[task].name);
	return cell_text(*name ? name : task_kind_name(model->tasks.row[task].kind));
}

#define GAP_FIGURES(COLUMN)                                                                       \
	COLUMN(at_s, REAL, "at", "its begin after that of the recording, in seconds",             \
	       cell_real(((double)row->gap.start_ns - (double)model->info.session_start_ns) / 1e9)) \
	COLUMN(label, TEXT, "device", "its number and rank", device_label(at, row->gap.device))   \
	COLUMN(duration_ns, NS, "gap", "how long it was",                                         \
	       cell_u64(row->gap.end_ns - row->gap.start_ns))                                     \
	COLUMN(before, TEXT, "after task", "the task that ended last before it",                  \
	       task_cell(model, row->gap.before))                                                 \
	COLUMN(after, TEXT, "before task", "the task that ended it",                              \
	       task_cell(model, row->gap.after))                                                  \
	COLUMN(causes, TEXT, "causes", "its largest parts", shares_cell(at, row))

DEFINE_FIGURES(gap_figures, struct idle_gap, GAP_FIGURES, NULL);

#define PART_FIGURES(COLUMN) \
	COLUMN(ns, NS, "time", "of the part", cell_u64(row->end_ns - row->start_ns))

DEFINE_FIGURES(part_figures, struct idle_part, PART_FIGURES, NULL);

static const struct view_column PART_SHOWN[] = {
	{ "cause" },		  { "start_ns" },   { "ns" },	  { "who" },
	{ "thread.process.pid" }, { "thread.tid" }, { "detail" }, { NULL },
};

static const struct view PARTS = { "parts", NULL, &table_idle_parts, PART_SHOWN,
				   .figures = &part_figures };

static const struct view_column GAP_SHOWN[] = {
	{ "at_s", .how = VIEW_TEXT, .heading = "at s", .scale = 1, .decimals = 6 },
	{ "start_ns", .how = VIEW_JSON },
	{ "duration_ns" },
	{ "label", .how = VIEW_TEXT | VIEW_RIGHT },
	{ "device.id", "device", VIEW_JSON },
	{ "before", .how = VIEW_SHRINK },
	{ "after", .how = VIEW_SHRINK },
	{ "causes", .how = VIEW_TEXT | VIEW_SHRINK | VIEW_BLANK },
	{ NULL },
};

/* The results contain the requested number of longest gaps already. */
static const struct view GAPS = {
	"gaps", NULL, &table_idle_gaps, GAP_SHOWN,
	.figures = &gap_figures, .within = view_all, .inside = { &PARTS },
};

/* ---- The whole section */

#define IDLE_COLUMNS(COLUMN)                                                                  \
	COLUMN(total_ns, NS, "idle", "all gaps of all devices", cell_u64(row->total_ns))      \
	COLUMN(gaps_total, COUNT, "gaps", "how many", cell_u64(row->gaps_total))              \
	COLUMN(threshold_ns, NS, "shortest", "shorter gaps are in the sums, and not listed",  \
	       cell_u64(row->threshold_ns))

static bool next_idle(struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	return devices && cursor_rows(at, &devices->idle, 1, sizeof(devices->idle));
}

DEFINE_FIGURES(idle, struct idle_result, IDLE_COLUMNS, next_idle);

static const struct view IDLE = {
	"idle", NULL, &idle, NULL, VIEW_ONE, .inside = { &CAUSES, &idle_roots_view, &GAPS },
};

/* ---- Text */

/* "of that 71.2 % on CPU in the program's own code, 12.0 % ready to run, but without a CPU, ..." */
static void print_by_cause(FILE *out, const struct idle_roots *roots)
{
	const char *before = "Of that, by the root of the waits: ";
	uint8_t cause;

	for (uint32_t i = 0; (cause = idle_cause_ranked(roots->cause_ns, i)) != IDLE_CAUSES; i++) {
		fprintf(out, "%s%.1f %% %s", before,
			percent_of(roots->cause_ns[cause], roots->total_ns), idle_cause_text(cause));
		before = ", ";
	}
	fputs(".\n", out);
}

static void print_top_cause(FILE *out, const struct model *model, const struct idle_roots *roots)
{
	struct idle_verdict verdict = idle_verdict(model, roots);
	char who[TEXT_SIZE], text[TEXT_SIZE];

	if (!verdict.most)
		return;
	fprintf(out, "Most of all, %.1f %%: %s", percent_of(verdict.cause_ns, roots->total_ns),
		idle_cause_text(verdict.cause));
	root_who_text(model, &verdict.most->root, text, sizeof(text));
	if (*text)
		fprintf(out, "; most of that, %.1f %%: %s",
			percent_of(verdict.most->ns, roots->total_ns),
			printable(text, who, sizeof(who)));
	fputs(".\n", out);
}

static void print_summary(FILE *out, const struct model *model,
			  const struct device_results *devices)
{
	char name[TEXT_SIZE], words[DEVICE_WORDS], window[WINDOW_SIZE];

	for (uint32_t i = 0; i < devices->device_count; i++) {
		const struct device_usage *usage = &devices->devices[i];

		if (!usage->window_ns)
			continue;
		device_words(model, i, words, sizeof(words));
		fprintf(out, "%s (%s) was idle %s%.1f %% of %s, in %u gap%s.\n", words,
			printable(model_text(model, model->devices.row[i].name), name,
				  sizeof(name)),
			device_busy_known(model, usage) ? "" : "at least ",
			percent_of(usage->idle_ns, usage->window_ns),
			text_window(usage->window_ns, window, sizeof(window)), usage->gap_count,
			plural_s(usage->gap_count));
	}
	if (devices->idle.total_count == 0)
		return;
	print_by_cause(out, devices->idle.roots);
	print_top_cause(out, model, devices->idle.roots);
}

static int print_tables(const struct report *report, const struct idle_result *of)
{
	int err = roots_text(report, &idle_roots_view, "Roots of the waits: the last thread or event of each chain");

	if (err)
		return err;
	fputs("\nWhat the thread that submitted the next task did meanwhile:\n", report->out);
	err = view_text(report, &CAUSES);
	if (err || !of->gap_count)
		return err;
	fputs("\nThe longest gaps:\n", report->out);
	return view_text(report, &GAPS);
}

static bool idle_empty(const struct report *report)
{
	const struct device_results *devices = report->results->devices;

	return devices && devices->device_count == 0;
}

static int idle_text(const struct report *report)
{
	const struct device_results *devices = report->results->devices;

	if (!devices)
		return 0;
	print_heading(report->out, report->options, "Idle device time and its causes");
	print_summary(report->out, report->model, devices);
	if (devices->idle.gaps_total)
		return print_tables(report, &devices->idle);
	fputs(devices->device_count ? "No gap between device tasks.\n"
				    : "No device task stream in this trace.\n",
	      report->out);
	return 0;
}

const struct section section_idle = { idle_text, NULL, VIEWS(&IDLE), .empty = idle_empty };
