/* SPDX-License-Identifier: Apache-2.0 */
/* Runtime API calls and device ioctls. */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"
#include "lib/function_kinds.h"

#define NAME_SIZE 128

static const char *known(const struct model *model, uint32_t id)
{
	const char *text = model_text(model, id);

	return *text ? text : "unknown";
}

static void print_totals(FILE *out, const struct model *model, const struct api_results *api,
			 double seconds, const struct report_options *options)
{
	uint32_t shown = rows_shown(options, api->total_count);
	char family[NAME_SIZE], name[NAME_SIZE];

	for (uint32_t i = 0; i < shown; i++) {
		const struct api_total *total = &api->totals[i];
		const struct process *process = &model->processes.row[total->process];

		fprintf(out,
			"%s in process %u %s: %" PRIu64 " calls, %.3f ms inside them, all threads "
			"together",
			printable(known(model, total->family), family, sizeof(family)),
			process->pid,
			printable(model_text(model, process->name), name, sizeof(name)),
			total->count, (double)total->total_ns / 1e6);
		if (seconds > 0)
			fprintf(out, " (%.1f %% of one thread's time)",
				100 * (double)total->total_ns / 1e9 / seconds);
		if (total->unknown)
			fprintf(out, ", and %" PRIu64 " calls whose end is not known",
				total->unknown);
		fputc('\n', out);
	}
	text_more(out, "runtimes", api->total_count, shown);
}

/* Columns that say nothing in most traces. */
struct api_columns {
	bool pid;
	bool inner;
	bool unrecorded;
	bool left;
	bool end_unknown;
};

static struct api_columns api_columns(const struct api_results *api)
{
	struct api_columns columns = { 0 };

	for (uint32_t i = 0; i < api->row_count; i++) {
		columns.pid |= api->rows[i].process != api->rows[0].process;
		columns.inner |= api->rows[i].inner != 0;
		columns.unrecorded |= api->rows[i].unrecorded != 0;
		columns.left |= api->rows[i].left != 0;
		columns.end_unknown |= api->rows[i].end_unknown != 0;
	}
	return columns;
}

static void api_headings(struct table *table, const struct api_columns *columns)
{
	table_column(table, "runtime", TABLE_LEFT);
	table_column(table, "function", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "kind", TABLE_LEFT);
	if (columns->pid)
		table_column(table, "pid", TABLE_RIGHT);
	table_column(table, "calls", TABLE_RIGHT);
	table_column(table, "open", TABLE_RIGHT);
	if (columns->left)
		table_column(table, "left", TABLE_RIGHT);
	if (columns->end_unknown)
		table_column(table, "end unknown", TABLE_RIGHT);
	table_column(table, "errors", TABLE_RIGHT);
	if (columns->inner)
		table_column(table, "inside others", TABLE_RIGHT);
	if (columns->unrecorded)
		table_column(table, "too short", TABLE_RIGHT);
	table_column(table, "total ms", TABLE_RIGHT);
	table_column(table, "mean us", TABLE_RIGHT);
	table_column(table, "p50 us", TABLE_RIGHT);
	table_column(table, "p99 us", TABLE_RIGHT);
	table_column(table, "max us", TABLE_RIGHT);
}

static void api_row(struct table *table, const struct model *model, const struct api_usage *usage,
		    const struct api_columns *columns)
{
	const struct function *function = &model->functions.row[usage->function];
	const struct durations *durations = &usage->durations;

	table_row(table);
	table_text(table, known(model, function->runtime));
	table_text(table, known(model, function->name));
	table_text(table, function_kind_name(function->kind));
	if (columns->pid)
		table_count(table, model->processes.row[usage->process].pid);
	table_count(table, usage->count);
	table_count(table, usage->open);
	if (columns->left)
		table_count(table, usage->left);
	if (columns->end_unknown)
		table_count(table, usage->end_unknown);
	table_count(table, usage->errors);
	if (columns->inner)
		table_count(table, usage->inner);
	if (columns->unrecorded)
		table_count(table, usage->unrecorded);
	table_ms(table, durations->total_ns);
	table_us_if(table, durations->count > 0, durations->mean_ns);
	table_us_if(table, durations->has_p50, durations->p50_ns);
	table_us_if(table, durations->has_p99, durations->p99_ns);
	table_us_if(table, durations->has_max, durations->max_ns);
}

static void api_legend(FILE *out, const struct results *results, const struct api_columns *columns)
{
	const struct api_results *api = results->api;
	uint64_t open = 0, open_ns = 0;

	for (uint32_t i = 0; i < api->row_count; i++) {
		open += api->rows[i].open;
		open_ns += api->rows[i].open_ns;
	}
	if (open)
		fprintf(out,
			"open: had not returned when the recording or the thread ended, after "
			"%.3f ms in sum; not in the times of the table\n",
			(double)open_ns / 1e6);
	if (columns->left)
		fputs("left: ended by an exception, longjmp or unwinding instead of returning; "
		      "when is "
		      "not known: in no times\n",
		      out);
	if (columns->end_unknown)
		fputs("end unknown: only their entries were seen: in no times\n", out);
	if (results->probe_cost && results->probe_cost->subtracted)
		fputs("times are without what the probes took (--subtract-probe-cost); 0 is what "
		      "they cannot tell from nothing\n",
		      out);
	if (columns->inner)
		fputs("inside others: made by a call of the same runtime; not counted again in the "
		      "sums above\n",
		      out);
	if (columns->unrecorded)
		fputs("too short: below the minimum that was asked for; counted, not in p50 to "
		      "max\n",
		      out);
}

static void launched_headings(struct table *table, bool pid, bool phases)
{
	table_column(table, "runtime", TABLE_LEFT);
	table_column(table, "launched", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "named by", TABLE_LEFT);
	if (pid)
		table_column(table, "pid", TABLE_RIGHT);
	table_column(table, "launches", TABLE_RIGHT);
	table_column(table, "errors", TABLE_RIGHT);
	table_column(table, "calls ms", TABLE_RIGHT);
	table_column(table, "mean us", TABLE_RIGHT);
	if (!phases)
		return;
	table_column(table, "prepared", TABLE_RIGHT);
	table_column(table, "reused", TABLE_RIGHT);
	table_column(table, "unprepared", TABLE_RIGHT);
	table_column(table, "prepare ms", TABLE_RIGHT);
}

static void launched_row(struct table *table, const struct model *model,
			 const struct launched_usage *usage, bool pid, bool phases)
{
	table_row(table);
	table_text(table, known(model, usage->runtime));
	table_text(table, known(model, usage->name));
	table_text(table, usage->name ? call_named_text(usage->named) : "");
	if (pid)
		table_count(table, model->processes.row[usage->process].pid);
	table_count(table, usage->count);
	table_count(table, usage->errors);
	table_ms(table, usage->total_ns);
	table_us_if(table, usage->returned > 0,
		    usage->returned ? usage->total_ns / usage->returned : 0);
	if (!phases)
		return;
	if (!usage->phases) {
		for (int i = 0; i < 4; i++)
			table_empty(table);
		return;
	}
	table_count(table, usage->prepared);
	table_count(table, usage->reused);
	table_count(table, usage->unprepared);
	table_ms(table, usage->prepare_ns);
}

/* Kernels, operators and collectives by name, below the functions that launched them. */
static int print_launched(FILE *out, const struct model *model,
			  const struct launched_results *launched,
			  const struct report_options *options)
{
	uint32_t shown = launched ? rows_shown(options, launched->row_count) : 0;
	bool pid = false, phases = false;
	struct table *table;
	int err;

	if (!shown)
		return 0;
	for (uint32_t i = 0; i < launched->row_count; i++) {
		pid |= launched->rows[i].process != launched->rows[0].process;
		phases |= launched->rows[i].phases;
	}
	fputc('\n', out);
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	launched_headings(table, pid, phases);
	for (uint32_t i = 0; i < shown; i++)
		launched_row(table, model, &launched->rows[i], pid, phases);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "launched names", launched->row_count, shown);
	if (phases)
		fputs("prepared: the operator was prepared (GetWorkspaceSize) for this launch; "
		      "reused: "
		      "prepared once, launched before; unprepared: prepared where nobody saw it\n",
		      out);
	return err;
}

int text_api(FILE *out, const struct model *model, const struct results *results,
	     const struct report_options *options)
{
	const struct api_results *api = results->api;
	struct api_columns columns = api_columns(api);
	uint32_t shown = rows_shown(options, api->row_count);
	struct table *table;
	int err;

	print_heading(out, options, "Runtime API calls");
	if (api->row_count == 0) {
		fputs("none were recorded\n", out);
		return 0;
	}
	print_totals(out, model, api, (double)(results->to_ns - results->from_ns) / 1e9, options);
	fputc('\n', out);
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	api_headings(table, &columns);
	for (uint32_t i = 0; i < shown; i++)
		api_row(table, model, &api->rows[i], &columns);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "functions", api->row_count, shown);
	api_legend(out, results, &columns);
	return err ?: print_launched(out, model, results->launched, options);
}

static void ioctl_row(struct table *table, const struct model *model,
		      const struct ioctl_usage *usage)
{
	const struct driver *driver = &model->drivers.row[usage->driver];
	char command[64];

	table_row(table);
	table_text(table, known(model, driver->driver));
	table_text(table, known(model, driver->device));
	table_text(table, ioctl_command_name(model, usage->driver, usage->cmd, command,
					     sizeof(command)));
	table_count(table, model->processes.row[usage->process].pid);
	table_count(table, usage->count);
	table_count(table, usage->before);
	table_count(table, usage->open);
	table_count(table, usage->errors);
	table_ms(table, usage->total_ns);
	table_us_if(table, usage->returned, ioctl_mean_ns(usage));
	table_us_if(table, usage->returned, usage->max_ns);
}

/* What began or ended outside of the recording is in no sum. */
static void unfinished_ioctls(FILE *out, const struct ioctl_results *ioctl)
{
	uint64_t open = 0, before = 0, ns = 0;

	for (uint32_t i = 0; i < ioctl->row_count; i++) {
		open += ioctl->rows[i].open;
		before += ioctl->rows[i].before;
		ns += ioctl->rows[i].open_ns + ioctl->rows[i].before_ns;
	}
	if (before || open)
		fprintf(out,
			"%" PRIu64 " were under way when recording began, %" PRIu64 " when it ended: they took %.3f ms "
			"at least, which is in no total, mean or maximum\n",
			before, open, (double)ns / 1e6);
}

int text_ioctl(FILE *out, const struct model *model, const struct results *results,
	       const struct report_options *options)
{
	const struct ioctl_results *ioctl = results->ioctl;
	uint32_t shown = rows_shown(options, ioctl->row_count);
	struct table *table;
	int err;

	print_heading(out, options, "Driver calls (ioctl on device files)");
	if (ioctl->row_count == 0) {
		fputs("none were recorded\n", out);
		return 0;
	}
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	table_column(table, "driver", TABLE_LEFT);
	table_column(table, "device", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "command", TABLE_LEFT);
	table_column(table, "pid", TABLE_RIGHT);
	table_column(table, "calls", TABLE_RIGHT);
	table_column(table, "begun before", TABLE_RIGHT);
	table_column(table, "open", TABLE_RIGHT);
	table_column(table, "errors", TABLE_RIGHT);
	table_column(table, "total ms", TABLE_RIGHT);
	table_column(table, "mean us", TABLE_RIGHT);
	table_column(table, "max us", TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++)
		ioctl_row(table, model, &ioctl->rows[i]);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "commands", ioctl->row_count, shown);
	unfinished_ioctls(out, ioctl);
	return err;
}
