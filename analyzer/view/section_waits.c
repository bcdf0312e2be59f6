/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the threads that represent a device (analyse/idle/host_waits.h). */
#include <inttypes.h>

#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/roots_view.h"
#include "analyzer/view/sections.h"

#define TEXT_SIZE 512

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const struct view_column THREAD_SHOWN[] = {
	{ "thread.name", .how = VIEW_EMPTY }, { "thread.process.pid" }, { "thread.tid" }, { NULL },
};

static const struct view THREADS = { "threads", NULL, &table_waiters, THREAD_SHOWN,
				     .within = view_all };

#define WAITS (&of->results->waits->waits)
#define CAUSE (row - WAITS->first_ns)

#define CAUSE_COLUMNS(COLUMN)                                                           \
	COLUMN(cause, TEXT, "cause", "what the threads themselves were in",             \
	       cell_text(idle_cause_name((uint8_t)CAUSE)))                              \
	COLUMN(ns, NS, "time", "of their waiting", cell_u64(*row))                      \
	COLUMN(percent, PERCENT, "share", "of all of it",                               \
	       cell_real(percent_of(*row, WAITS->total_ns)))

/* Iterates with the largest first. */
static bool next_cause(struct table_cursor *at)
{
	const uint64_t *ns = at->of->results->waits->waits.first_ns;
	uint8_t cause = idle_cause_ranked(ns, (uint32_t)at->i++);

	if (cause == IDLE_CAUSES)
		return false;
	at->row = &ns[cause];
	return true;
}

DEFINE_FIGURES(causes, uint64_t, CAUSE_COLUMNS, next_cause);

static const struct view CAUSES = { "causes", NULL, &causes, NULL, .within = view_all };

#define WAIT_COLUMNS(COLUMN)                                                                    \
	COLUMN(of, TEXT, "of", "whose: asked, launches, fetches, main or busiest",              \
	       cell_text(waits_why_name(row->why)))                                             \
	COLUMN(share_of, TEXT, "share of", "what time was looked at: step_time or wall_time",   \
	       cell_text(row->of_steps ? "step_time" : "wall_time"))                            \
	COLUMN(window_ns, NS, "window", "that time, of all threads together",                   \
	       cell_u64(row->window_ns))                                                        \
	COLUMN(total_ns, NS, "waiting", "of it", cell_u64(row->waits.total_ns))                 \
	COLUMN(gaps_total, COUNT, "waits", "how many", cell_u64(row->waits.gaps))               \
	COLUMN(device_busy_at_least_percent, PERCENT, "device busy at least",                   \
	       "by the calls that wait for it",                                                 \
	       cell_known_real(row->bounds.known, row->bounds.at_least_percent))                \
	COLUMN(device_busy_at_most_percent, PERCENT, "device busy at most",                     \
	       "by the calls that wait for it",                                                 \
	       cell_known_real(row->bounds.known, row->bounds.at_most_percent))                 \
	COLUMN(device_busy_likely_at_most_percent, PERCENT, "device busy likely at most",       \
	       "the same, if launches that no call had to wait for take no longer than others", \
	       cell_known_real(row->bounds.known, row->bounds.likely_most_percent))             \
	COLUMN(run_ns, NS, "on a CPU", "of it", cell_u64(row->own.total_ns))

/* There is no row if nothing is known about any thread. */
static bool next_waits(struct table_cursor *at)
{
	const struct host_waits *waits = at->of->results->waits;

	return waits && waits->thread_count && cursor_rows(at, waits, 1, sizeof(*waits));
}

DEFINE_FIGURES(waited, struct host_waits, WAIT_COLUMNS, next_waits);

static const struct view WAITED = {
	"waits", NULL, &waited, NULL, VIEW_ONE,
	.inside = { &THREADS, &CAUSES, &wait_roots_view, &wait_runs_view },
};

/* ---- Text */

static void print_whose(FILE *out, const struct model *model, const struct host_waits *waits)
{
	static const char *const texts[] = {
		[WAITS_OF_NONE] = "",
		[WAITS_OF_ASKED] = "as asked for",
		[WAITS_OF_LAUNCHES] = "which submits work to the device",
		[WAITS_OF_FETCHES] = "which fetches batches, in the steps judged",
		[WAITS_OF_MAIN] = "the main thread",
		[WAITS_OF_BUSIEST] =
			"which has the CPU most; the main thread does nothing but sleep",
		[WAITS_OF_LAST] = "the rank that the others wait for, without a sleep",
	};
	char name[TEXT_SIZE], clean[TEXT_SIZE], window[WINDOW_SIZE];

	root_thread_text(model, waits->threads[0], name, sizeof(name));
	fprintf(out, "%s", printable(name, clean, sizeof(clean)));
	if (waits->thread_count > 1)
		fprintf(out, " and %u more", waits->thread_count - 1);
	fprintf(out,
		" (%s): on a CPU for %.1f %% of %s, waiting for %.1f %%, in %" PRIu64
		" wait%s.\n",
		texts[waits->why], percent_of(waits->own.total_ns, waits->window_ns),
		text_window(waits->window_ns, window, sizeof(window)), percent_of(waits->waits.total_ns, waits->window_ns),
		waits->waits.gaps, plural_s(waits->waits.gaps));
	if (waits->bounds.known)
		fprintf(out,
			"According to the calls that wait for it, the device is busy for at least "
			"%.1f %%, at most %.1f %% of the time.\n",
			waits->bounds.at_least_percent, waits->bounds.at_most_percent);
	if (device_bounds_likely_tells(&waits->bounds))
		fprintf(out,
			"If launches that no call had to wait for take no longer than others, it is busy for at most %.1f %%.\n",
			waits->bounds.likely_most_percent);
}

static int waits_text(const struct report *report)
{
	const struct host_waits *of = report->results->waits;
	int err = 0;

	if (!view_count(report, &WAITED, NULL))
		return 0;
	print_heading(report->out, report->options,
		      "What the job waits for, by what its threads did");
	print_whose(report->out, report->model, of);
	if (of->waits.count)
		err = roots_text(report, &wait_roots_view,
				 "Roots of the waits: the last thread or event of each chain");
	if (!err && of->own.count)
		err = roots_text(report, &wait_runs_view, "On a CPU themselves");
	return err;
}

const struct section section_waits = { waits_text, NULL, VIEWS(&WAITED) };
