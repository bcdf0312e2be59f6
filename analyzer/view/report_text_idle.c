/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/analyse/idle/idle_verdict.h"
#include "analyzer/view/report_device.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/report_roots.h"
#include "analyzer/view/render/table.h"

#define TEXT_SIZE 1200
#define PARTS_SHOWN 3 /* of each listed gap */

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* "of that 71.2 % on CPU in the program's own code, 12.0 % ready to run, but without a CPU, ..." */
static void print_by_cause(FILE *out, const struct idle_roots *idle)
{
	bool done[IDLE_CAUSES] = { false };
	const char *before = "Of that, at the end of all waiting: ";

	for (int i = 0; i < IDLE_CAUSES; i++) {
		int largest = -1;

		for (int cause = 0; cause < IDLE_CAUSES; cause++) {
			if (!done[cause] && idle->cause_ns[cause] &&
			    (largest < 0 || idle->cause_ns[cause] > idle->cause_ns[largest]))
				largest = cause;
		}
		if (largest < 0)
			break;
		done[largest] = true;
		fprintf(out, "%s%.1f %% %s", before,
			percent_of(idle->cause_ns[largest], idle->total_ns),
			idle_cause_text((uint8_t)largest));
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
	char name[TEXT_SIZE];

	for (uint32_t i = 0; i < devices->device_count; i++) {
		const struct device_usage *usage = &devices->devices[i];

		if (!usage->window_ns)
			continue;
		fprintf(out, "Device %u (%s) was idle %.1f %% of %.3f s, in %u gaps.\n",
			model->devices.row[i].id,
			printable(model_text(model, model->devices.row[i].name), name,
				  sizeof(name)),
			percent_of(usage->idle_ns, usage->window_ns),
			(double)usage->window_ns / 1e9, usage->gap_count);
	}
	if (devices->idle.total_count == 0)
		return;
	print_by_cause(out, devices->idle.roots);
	print_top_cause(out, model, devices->idle.roots);
}

static int print_totals(FILE *out, const struct model *model, const struct idle_result *idle,
			const struct report_options *options)
{
	struct table *table = table_new(options);
	uint32_t shown = idle->total_count;
	int error;

	if (!table)
		return -ENOMEM;
	if (options->top && shown > options->top)
		shown = options->top;
	table_column(table, "idle %", TABLE_RIGHT);
	table_column(table, "idle ms", TABLE_RIGHT);
	table_column(table, "gaps", TABLE_RIGHT);
	table_column(table, "cause", TABLE_LEFT);
	table_column(table, "who", TABLE_LEFT);
	table_column(table, "in the longest case", TABLE_LEFT | TABLE_SHRINK);
	for (uint32_t i = 0; i < shown; i++) {
		const struct idle_total *total = &idle->totals[i];

		table_row(table);
		table_percent(table, total->percent);
		table_ms(table, total->ns);
		table_count(table, total->gaps);
		table_text(table, idle_cause_name(total->cause));
		if (total->who)
			table_text(table, model_text(model, total->who));
		else
			table_unknown(table);
		table_text(table, model_text(model, total->detail));
	}
	fputs("\nWhat the thread that submitted the next task did meanwhile:\n", out);
	error = table_print(table, out);
	text_more(out, "causes", idle->total_count, shown);
	table_free(table);
	return error;
}

/* The parts of one gap that have the same cause and the same who, together. */
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

/* Shares of a gap, largest first; the caller frees them. NULL without memory. */
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

/* "lock ffmpeg 4711 82 %, user_code ffmpeg 4700 10 %": what is worth telling. */
static int add_shares(struct table *table, const struct model *model, const struct idle_gap *gap)
{
	uint64_t length_ns = gap->gap.end_ns - gap->gap.start_ns;
	char text[TEXT_SIZE] = "";
	size_t used = 0;
	uint32_t count;
	struct share *shares = gap_shares(gap, &count);

	if (!shares)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && i < PARTS_SHOWN && used < sizeof(text); i++) {
		const char *who = model_text(model, shares[i].who);

		if (i > 0 && percent_of(shares[i].ns, length_ns) < 1)
			break;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s%.200s %.0f %%",
					 i ? ", " : "", idle_cause_name(shares[i].cause),
					 *who ? " " : "", who, percent_of(shares[i].ns, length_ns));
	}
	table_text(table, text);
	free(shares);
	return 0;
}

static const char *task_name(const struct model *model, uint32_t task)
{
	const char *name;

	if (task >= model->tasks.count)
		return "unknown";
	name = model_text(model, model->tasks.row[task].name);
	return *name ? name : task_kind_name(model->tasks.row[task].kind);
}

static void add_device(struct table *table, const struct device *device)
{
	if (device->has_rank)
		table_format(table, "%u (rank %u)", device->id, device->rank);
	else
		table_count(table, device->id);
}

static int print_gaps(FILE *out, const struct model *model, const struct idle_result *idle,
		      const struct report_options *options)
{
	struct table *table = table_new(options);
	uint64_t zero_ns = model->info.session_start_ns;
	int error = 0;

	if (!table)
		return -ENOMEM;
	table_column(table, "at s", TABLE_RIGHT);
	table_column(table, "gap ms", TABLE_RIGHT);
	table_column(table, "device", TABLE_RIGHT);
	table_column(table, "after task", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "before task", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "causes", TABLE_LEFT | TABLE_SHRINK);
	for (uint32_t i = 0; i < idle->gap_count && !error; i++) {
		const struct idle_gap *gap = &idle->gaps[i];

		table_row(table);
		table_format(table, "%.6f", ((double)gap->gap.start_ns - (double)zero_ns) / 1e9);
		table_ms(table, gap->gap.end_ns - gap->gap.start_ns);
		add_device(table, &model->devices.row[gap->gap.device]);
		table_text(table, task_name(model, gap->gap.before));
		table_text(table, task_name(model, gap->gap.after));
		error = add_shares(table, model, gap);
	}
	fputs("\nThe longest gaps:\n", out);
	if (!error)
		error = table_print(table, out);
	table_free(table);
	return error;
}

int report_text_idle(FILE *out, const struct model *model, const struct device_results *devices,
		     const struct report_options *options)
{
	const struct idle_result *idle = &devices->idle;
	int error;

	print_heading(out, options, "Idle device time and its causes");
	print_summary(out, model, devices);
	if (idle->gaps_total == 0) {
		fputs(devices->device_count ? "No gap between device tasks.\n"
					    : "No device task stream in this trace.\n",
		      out);
		return 0;
	}
	error = report_text_roots(out, model, idle->roots,
				  "At the end of all waiting, by who it was", "idle", options);
	if (!error)
		error = print_totals(out, model, idle, options);
	if (!error && idle->gap_count)
		error = print_gaps(out, model, idle, options);
	return error;
}
