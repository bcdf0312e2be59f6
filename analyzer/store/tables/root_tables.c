/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: the roots of devices' idle time, or of the waits of the threads that take their place. */
#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/analyse/idle/idle.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/analyse/idle/step_outliers.h"
#include "analyzer/store/define_table.h"

static const struct idle_roots *roots_of(const struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	return devices ? devices->idle.roots : NULL;
}

static struct cell who_cell(struct table_cursor *at, const struct root *root)
{
	root_who_text(at->of->model, root, at->text[0], sizeof(at->text[0]));
	return cell_text(at->text[0]);
}

static struct cell place_cell(struct table_cursor *at, const struct root *root)
{
	root_place_text(at->of->model, at->of->syscalls, root, at->text[1], sizeof(at->text[1]));
	return cell_text(at->text[1]);
}

static struct cell object_cell(struct table_cursor *at, const struct root *root)
{
	root_object_text(at->of->model, root, at->text[2], sizeof(at->text[2]));
	return cell_text(at->text[2]);
}

/* Columns of a root, of a device or of a thread. */
#define END_COLUMNS(COLUMN)                                                                   \
	COLUMN(root, ROW, "root", "this row", cell_u64(at->index))                            \
	COLUMN(cause, TEXT, "cause", "the cause at the end of the chain of waits",            \
	       cell_text(idle_cause_name(row->root.cause)))                                   \
	COLUMN(who, TEXT, "who", "the thread, process or object that caused it", who_cell(at, \
	       &row->root))                                                                   \
	COLUMN(thread, ROW, "thread", "the thread named in who, else the one where the walk " \
				      "ended: a row of threads",                              \
	       cell_index(root_subject(&row->root)))                                          \
	COLUMN(place, TEXT, "where", "the function that ran or slept there", place_cell(at,   \
	       &row->root))                                                                   \
	COLUMN(samples, COUNT, "samples", "samples by which the place is known",              \
	       cell_not_0(row->samples))                                                      \
	COLUMN(doing, TEXT, "doing", "what that is for, if half of the samples agree",        \
	       cell_text(row->word))                                                          \
	COLUMN(object, TEXT, "object", "the file, device, lock, peer or group it waited for", \
	       object_cell(at, &row->root))

#define ENDED_COLUMN(COLUMN)                                                          \
	COLUMN(ended, TEXT, "ended", "why the walk could not go on, if it could not", \
	       cell_text(root_end_name(row->root.end)))

#define ROOT_COLUMNS(COLUMN)                                                                  \
	END_COLUMNS(COLUMN)                                                                   \
	COLUMN(ns, NS, "idle", "idle time of all devices that leads here", cell_u64(row->ns)) \
	COLUMN(percent, PERCENT, "share", "of all idle time", cell_real(row->percent))        \
	COLUMN(gaps, COUNT, "gaps", "gaps that lead here", cell_u64(row->gaps))               \
	ENDED_COLUMN(COLUMN)

static bool next_root(struct table_cursor *at)
{
	const struct idle_roots *roots = roots_of(at);

	return roots && cursor_rows(at, roots->row, roots->count, sizeof(*roots->row));
}

DEFINE_TABLE(idle_roots, struct idle_root, ROOT_COLUMNS, next_root,
	     "a root: the end of a chain of waits while devices were idle; all rows add up to the idle time",
	     .keyed = true,
	     .sections = SECTION_IDLE);

#define HOP_NUMBER ((uint64_t)(row - ROOT->hops))
#define ROOT ((const struct idle_root *)at->outer)

#define HOP_COLUMNS(COLUMN)                                                        \
	COLUMN(root, ROW, "root", "a row of idle_roots", cell_u64(at->index))      \
	COLUMN(hop, NUMBER, "hop", "0 is the thread that submitted the next task", \
	       cell_u64(HOP_NUMBER))                                               \
	COLUMN(cause, TEXT, "cause", "cause of the thread's wait",                 \
	       cell_text(idle_cause_name(row->cause)))                             \
	COLUMN(thread, ROW, "thread", "a row of threads", cell_index(row->thread)) \
	COLUMN(ns, NS, "idle", "idle time that came this way", cell_u64(row->ns))

static bool next_hop(struct table_cursor *at)
{
	const struct idle_roots *roots = roots_of(at);

	if (!roots)
		return false;
	CURSOR_OUTER(at, roots->count)
	{
		const struct idle_root *root = &roots->row[at->i];

		if (cursor_inner(at, root, root->hops, root->hop_count, sizeof(*root->hops)))
			return true;
	}
	return false;
}

DEFINE_TABLE(idle_hops, struct idle_hop, HOP_COLUMNS, next_hop,
	     "a thread on the way from the one that submitted to a root", .keyed = true,
	     .sections = SECTION_IDLE);

static bool next_wait_root(struct table_cursor *at)
{
	const struct host_waits *waits = at->of->results->waits;

	return waits &&
	       cursor_rows(at, waits->waits.row, waits->waits.count, sizeof(*waits->waits.row));
}

#define WAIT_COLUMNS(COLUMN)                                                       \
	END_COLUMNS(COLUMN)                                                        \
	COLUMN(ns, NS, "waiting", "time that leads here", cell_u64(row->ns))       \
	COLUMN(percent, PERCENT, "share", "of all of it", cell_real(row->percent)) \
	COLUMN(gaps, COUNT, "waits", "waits that lead here", cell_u64(row->gaps))  \
	ENDED_COLUMN(COLUMN)

DEFINE_TABLE(wait_roots, struct idle_root, WAIT_COLUMNS, next_wait_root,
	     "a root of the waits of the threads that represent the job; all rows add up to these waits",
	     .keyed = true);

static bool next_run_root(struct table_cursor *at)
{
	const struct host_waits *waits = at->of->results->waits;

	return waits && cursor_rows(at, waits->own.row, waits->own.count, sizeof(*waits->own.row));
}

DEFINE_TABLE(wait_runs, struct idle_root, WAIT_COLUMNS, next_run_root,
	     "work of these threads on a CPU; all rows add up to it", .keyed = true);

static bool next_waiter(struct table_cursor *at)
{
	const struct host_waits *waits = at->of->results->waits;

	return waits &&
	       cursor_rows(at, waits->threads, waits->thread_count, sizeof(*waits->threads));
}

#define WAITER_COLUMNS(COLUMN)                                                        \
	COLUMN(thread, ROW, "thread", "a row of threads", cell_index(*row))           \
	COLUMN(why, TEXT, "why", "asked, launches, fetches, main, busiest or last",         \
	       cell_text(waits_why_name(of->results->waits->why)))                    \
	COLUMN(from_ns, INSTANT, "from", "the time looked at",                        \
	       cell_u64(of->results->waits->from_ns))                                 \
	COLUMN(to_ns, INSTANT, "to", "its end", cell_u64(of->results->waits->to_ns))  \
	COLUMN(device_at_least, PERCENT, "device busy at least",                      \
	       "share of that time, according to the calls that wait for the device", \
	       cell_known_real(of->results->waits->bounds.known,                      \
			       of->results->waits->bounds.at_least_percent))          \
	COLUMN(device_at_most, PERCENT, "at most", "of that time",                    \
	       cell_known_real(of->results->waits->bounds.known,                      \
			       of->results->waits->bounds.at_most_percent))            \
	COLUMN(device_likely_at_most, PERCENT, "likely at most",                      \
	       "the same, if launches that no call had to wait for take no longer than others", \
	       cell_known_real(of->results->waits->bounds.known,                      \
			       of->results->waits->bounds.likely_most_percent))

DEFINE_TABLE(waiters, uint32_t, WAITER_COLUMNS, next_waiter,
	     "a thread that represents the job, if the device reports no tasks");

/* The root that was different in this step; NULL = unknown. */
static const struct idle_root *outlier_root(const struct step_outlier *row)
{
	return row->root == INDEX_NONE ? NULL : &row->roots.row[row->root];
}

#define DIFFERENT (outlier_root(row))

#define OUTLIER_COLUMNS(COLUMN)                                                                  \
	COLUMN(step, NUMBER, "step", "its number, as in the list of steps",                      \
	       cell_u64(row->number))                                                            \
	COLUMN(start_ns, INSTANT, "start", "begin of the step", cell_u64(row->start_ns))         \
	COLUMN(duration_ns, NS, "duration", "of the step", cell_u64(row->duration_ns))           \
	COLUMN(usual_ns, NS, "usual", "the median step's duration",                              \
	       cell_u64(of->results->outliers->median_ns))                                       \
	COLUMN(cause, TEXT, "cause", "what was different: the root of the waits that grew most", \
	       DIFFERENT ? cell_text(idle_cause_name(DIFFERENT->root.cause)) : cell_none())      \
	COLUMN(who, TEXT, "who", "the thread, process or object that caused it",                 \
	       DIFFERENT ? who_cell(at, &DIFFERENT->root) : cell_none())                         \
	COLUMN(thread, ROW, "thread", "the thread named in who, else the one where the walk "    \
				      "ended: a row of threads",                                 \
	       DIFFERENT ? cell_index(root_subject(&DIFFERENT->root)) : cell_none())             \
	COLUMN(place, TEXT, "where", "the function that ran or slept there",                     \
	       DIFFERENT ? place_cell(at, &DIFFERENT->root) : cell_none())                       \
	COLUMN(object, TEXT, "object", "the object that it waited for",                          \
	       DIFFERENT ? object_cell(at, &DIFFERENT->root) : cell_none())                      \
	COLUMN(ns, NS, "its time", "of this cause and who, in this step",                        \
	       cell_known(DIFFERENT, row->ns))                                                   \
	COLUMN(usual_cause_ns, NS, "usually", "the same in other steps, mean",                   \
	       cell_known(DIFFERENT, row->usual_ns))

static bool next_outlier(struct table_cursor *at)
{
	const struct step_outliers *outliers = at->of->results->outliers;

	return outliers &&
	       cursor_rows(at, outliers->row, outliers->count, sizeof(*outliers->row));
}

DEFINE_TABLE(step_outliers, struct step_outlier, OUTLIER_COLUMNS, next_outlier,
	     "a step that took at least 1.5 times the median, and what was different in it");
