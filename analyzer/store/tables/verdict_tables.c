/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: the verdict. */
#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/store/define_table.h"

/* The verdict's root, if it is one of @roots. */
static struct cell root_cell(const struct verdict *verdict, const struct idle_roots *roots)
{
	const struct idle_root *most = verdict->idle.most;
	bool here = most && roots && verdict->roots == roots;

	return cell_known(here, here ? (uint64_t)(most - roots->row) : 0);
}

#define WAITS (of->results->waits)

#define VERDICT_COLUMNS(COLUMN)                                                                  \
	COLUMN(state, TEXT, "state",                                                             \
	       "data, cpu, host_code, device, communication, healthy or unknown",                \
	       cell_text(verdict_state_name(row->state)))                                        \
	COLUMN(percent, PERCENT, "share",                                                        \
	       "the cost; for healthy and busy how busy devices are, for unknown how idle",      \
	       cell_known_real(row->has_percent, row->percent))                                  \
	COLUMN(share_of, TEXT, "of", "the base of percent: device_time, step_time or wall_time", \
	       cell_text(row->has_percent ? verdict_of_name(row->of) : NULL))                    \
	COLUMN(busy, FLAG, "busy", "the device takes the time because it is busy",               \
	       cell_flag(row->busy))                                                             \
	COLUMN(copies_percent, PERCENT, "copies",                                                \
	       "share of devices' time in which they only copied; NULL without their tasks",     \
	       cell_known_real(row->has_percent && !row->by_threads, row->copies_percent))       \
	COLUMN(gain, PERCENT, "gain", "upper bound, if the cause disappeared completely",        \
	       cell_known_real(row->gain_percent > 0, row->gain_percent))                        \
	COLUMN(root, ROW, "root", "its largest root: a row of idle_roots",                       \
	       root_cell(row, of->results->devices->idle.roots))                                 \
	COLUMN(wait_root, ROW, "root of waits", "without a device's tasks: a row of wait_roots", \
	       root_cell(row, WAITS ? &WAITS->waits : NULL))                                     \
	COLUMN(wait_run, ROW, "root of work", "or a row of wait_runs",                           \
	       root_cell(row, WAITS ? &WAITS->own : NULL))

static bool next_verdict(struct table_cursor *at)
{
	const struct verdict *verdict = at->of->results->verdict;

	return verdict && cursor_rows(at, verdict, 1, sizeof(*verdict));
}

DEFINE_TABLE(verdict, struct verdict, VERDICT_COLUMNS, next_verdict,
	     "what holds up the job as a whole; there is one row");
