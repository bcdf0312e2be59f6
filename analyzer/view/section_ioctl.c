/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of device drivers. */
#include <inttypes.h>

#include "analyzer/analyse/calls/ioctl.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define IOCTL_FIGURES(COLUMN)                                                         \
	COLUMN(module, TEXT, "module", "the driver's kernel module",                  \
	       cell_string(model, model->drivers.row[row->driver].module))            \
	COLUMN(number, NUMBER, "number", "number of the command", cell_u64(row->cmd)) \
	COLUMN(open_ns, NS, "open", "how long these have lasted",                     \
	       cell_known(row->open, row->open_ns))                                   \
	COLUMN(began_before_ns, NS, "begun before", "minimal duration of these",      \
	       cell_not_0(row->before_ns))                                            \
	COLUMN(mean_ns, SHORT_NS, "mean", "of those that were recorded completely",   \
	       cell_known(row->returned, ioctl_mean_ns(row)))

DEFINE_FIGURES(ioctl_figures, struct ioctl_usage, IOCTL_FIGURES, NULL);

static const struct view_column COLUMNS[] = {
	{ "driver", .how = VIEW_EMPTY },
	{ "module", .how = VIEW_JSON },
	{ "device", .how = VIEW_SHRINK | VIEW_EMPTY },
	{ "command" },
	{ "number", .how = VIEW_JSON },
	{ "process.pid" },
	{ "count" },
	{ "began_before", .how = VIEW_NOT_0 },
	{ "open" },
	{ "open_ns", .how = VIEW_JSON },
	{ "began_before_ns", .how = VIEW_JSON },
	{ "errors" },
	{ "total_ns" },
	{ "mean_ns" },
	{ "max_ns" },
	{ NULL },
};

static const struct view IOCTL = { "ioctl", "commands", &table_ioctl, COLUMNS,
				   .figures = &ioctl_figures };

/* Ioctls that began or ended outside of the recording are not in the sums. */
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
			"%" PRIu64 " calls were running when recording began, %" PRIu64 " when it "
			"ended: they took at least %.3f ms, not included in totals, means and "
			"maxima\n",
			before, open, (double)ns / 1e6);
}

static bool ioctl_empty(const struct report *report)
{
	return report->results->ioctl->row_count == 0;
}

static int ioctl_text(const struct report *report)
{
	int err;

	print_heading(report->out, report->options, "Driver calls (ioctl on device files)");
	if (ioctl_empty(report)) {
		fputs("none were recorded\n", report->out);
		return 0;
	}
	err = view_text(report, &IOCTL);
	unfinished_ioctls(report->out, report->results->ioctl);
	return err;
}

const struct section section_ioctl = { ioctl_text, NULL, VIEWS(&IOCTL), .empty = ioctl_empty };
