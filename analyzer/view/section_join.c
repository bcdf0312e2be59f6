/* SPDX-License-Identifier: Apache-2.0 */
/* Launching calls and device tasks, and the devices' clocks. */
#include <inttypes.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define CONVERTED (row->method != DEVICE_CLOCK_NONE)
#define CORRECTED (row->method == DEVICE_CLOCK_CORRECTED)
#define JUMPED (CONVERTED && (row->steps || row->at_steps))

#define CLOCK_COLUMNS(COLUMN)                                                                      \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(at->index))                     \
	COLUMN(method, TEXT, "method", "how its times were converted to the host's clock",         \
	       cell_text(device_clock_method_text(row->method)))                                   \
	COLUMN(clock, TEXT, "clock", "as declared", cell_text(device_clock_name(row->clock)))      \
	COLUMN(offset_ns, NS, "offset", "host minus device at its first task",                     \
	       cell_known_i64(CONVERTED, row->offset_ns))                                          \
	COLUMN(error_ns, NS, "error", "true times lie within",                                     \
	       cell_known(CONVERTED && row->error_ns != UINT64_MAX, row->error_ns))                \
	COLUMN(drift_ppb, STATUS, "drift", "by how much the offset grows, ns per second",          \
	       cell_known_i64(CONVERTED, row->drift_ppb))                                          \
	COLUMN(tasks, COUNT, "tasks", "converted", cell_known(CONVERTED, row->tasks))              \
	COLUMN(before_enqueue, COUNT, "before enqueue", "tasks that start too early",              \
	       cell_known(CONVERTED, row->before_enqueue))                                         \
	COLUMN(negative_launch_delays, COUNT, "too early", "the same before a correction",         \
	       cell_known(CONVERTED, row->negative ? row->negative : row->before_enqueue))         \
	COLUMN(correction_ns, NS, "correction", "the error of the declared clock",                 \
	       cell_known_i64(CORRECTED, row->correction_ns))                                      \
	COLUMN(correction_ppb, STATUS, "correction", "the same of its drift",                      \
	       cell_known_i64(CORRECTED, row->correction_ppb))                                     \
	COLUMN(steps, COUNT, "steps", "times that it jumped", cell_known(JUMPED, row->steps))      \
	COLUMN(tasks_at_steps, COUNT, "tasks at steps", "tasks near a jump, whose times are less " \
							"exact",                                   \
	       cell_known(JUMPED, row->at_steps))                                                  \
	COLUMN(step_error_ns, NS, "error there", "times of these lie within",                      \
	       cell_known(JUMPED && row->step_error_ns != UINT64_MAX, row->step_error_ns))

static bool next_clock(struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	return cursor_rows(at, devices->clocks, devices->device_count, sizeof(*devices->clocks));
}

DEFINE_FIGURES(clocks, struct device_clock, CLOCK_COLUMNS, next_clock);

#define CLOCK                                                                                     \
	{ "method" }, { "clock" }, { "offset_ns" }, { "error_ns", .how = VIEW_NULL }, { "drift_ppb" }, { "tasks" }, \
		{ "before_enqueue" }, { "negative_launch_delays" }, { "correction_ns" },          \
		{ "correction_ppb" }, { "steps" }, { "tasks_at_steps" },                          \
	{                                                                                         \
		"step_error_ns"                                                                   \
	}

static const struct view_column MAIN_COLUMNS[] = { CLOCK, { NULL } };
static const struct view_column CLOCK_VIEW_COLUMNS[] = { { "device.id", "device" },
							 CLOCK,
							 { NULL } };

/* Selects the device with most tasks. */
static void of_main(struct table_cursor *at, const struct table_cursor *outer)
{
	const struct device_results *devices = at->of->results->devices;

	for (uint32_t i = 0; i < devices->device_count; i++)
		at->i = devices->clocks[i].tasks > devices->clocks[at->i].tasks ? i : at->i;
}

static const struct view MAIN_CLOCK = { "clock",      NULL,	&clocks,
					MAIN_COLUMNS, VIEW_ONE, .within = of_main };
static const struct view CLOCKS = {
	"clocks", NULL, &clocks, CLOCK_VIEW_COLUMNS, .within = view_all, .optional = true
};

#define JOIN_COLUMNS(COLUMN)                                                                   \
	COLUMN(launches, COUNT, "launches", "launching calls without an error",                \
	       cell_u64(row->launches))                                                        \
	COLUMN(failed_launches, COUNT, "failed", "those with an error",                        \
	       cell_u64(row->failed_launches))                                                 \
	COLUMN(unprofiled_launches, COUNT, "unprofiled",                                       \
	       "those of processes without a task stream", cell_u64(row->unprofiled_launches)) \
	COLUMN(tasks, COUNT, "tasks", "device tasks", cell_u64(row->tasks))                    \
	COLUMN(tasks_outside_session, COUNT, "outside",                                        \
	       "tasks enqueued while calls were not traced", cell_u64(row->tasks_outside))     \
	COLUMN(matched, COUNT, "matched", "tasks with their call", cell_u64(row->matched))     \
	COLUMN(unmatched_launches, COUNT, "unmatched calls", "calls without a task",           \
	       cell_u64(row->unmatched_launches))                                              \
	COLUMN(unmatched_tasks, COUNT, "unmatched tasks", "tasks without a call",              \
	       cell_u64(row->unmatched_tasks))                                                 \
	COLUMN(ambiguous, COUNT, "ambiguous", "tasks for which several calls qualified",       \
	       cell_u64(row->ambiguous))                                                       \
	COLUMN(method, TEXT, "method", "by what they were matched",                            \
	       cell_text(launch_join_method(row)))

static bool next_join(struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	return devices && cursor_rows(at, &devices->launches, 1, sizeof(devices->launches));
}

DEFINE_FIGURES(joins, struct launch_join, JOIN_COLUMNS, next_join);

static const struct view JOIN = { "join", NULL,	    &joins,
				  NULL,	  VIEW_ONE, .inside = { &MAIN_CLOCK, &CLOCKS } };

static void print_clock(FILE *out, const struct model *model, const struct device_results *devices,
			uint32_t device)
{
	const struct device_clock *clock = &devices->clocks[device];

	fprintf(out, "Clock of device %u: %s, %s", model->devices.row[device].id,
		device_clock_name(clock->clock), device_clock_method_text(clock->method));
	if (clock->method == DEVICE_CLOCK_NONE) {
		fputs("; its times are shown unchanged\n", out);
		return;
	}
	fprintf(out, "; host minus device %" PRId64 " ns, drift %" PRId64 " ppb", clock->offset_ns,
		clock->drift_ppb);
	if (clock->error_ns == UINT64_MAX)
		fputs(", error unknown\n", out);
	else
		fprintf(out, ", error +-%" PRIu64 " ns\n", clock->error_ns);
	if (clock->method == DEVICE_CLOCK_CORRECTED)
		fprintf(out,
			"  the declared clock was off by %" PRId64 " ns and %" PRId64 " ppb; with "
			"it %u of %u tasks would start before their launch\n",
			clock->correction_ns, clock->correction_ppb, clock->negative, clock->tasks);
	if (clock->steps || clock->at_steps)
		fprintf(out,
			"  the clock jumped %u times; %u tasks nearby are placed less exactly\n",
			clock->steps, clock->at_steps);
	if (clock->before_enqueue)
		fprintf(out,
			"  %u of %u tasks start before they were enqueued: the clock is off by at "
			"least that much\n",
			clock->before_enqueue, clock->tasks);
}

static bool join_empty(const struct report *report)
{
	const struct device_results *devices = report->results->devices;

	return devices && devices->device_count == 0;
}

static int join_text(const struct report *report)
{
	const struct device_results *devices = report->results->devices;
	const struct launch_join *join = devices ? &devices->launches : NULL;
	FILE *out = report->out;

	if (!join)
		return 0;
	print_heading(out, report->options, "Launches and device tasks");
	if (join_empty(report)) {
		fputs("Nothing to join: no device task stream.\n", out);
		return 0;
	}
	fprintf(out,
		"%" PRIu64 " launching call%s, %" PRIu64 " device task%s, %" PRIu64
		" task%s matched with %s call (by %s)\n",
		join->launches, plural_s(join->launches), join->tasks, plural_s(join->tasks),
		join->matched, plural_s(join->matched), join->matched == 1 ? "its" : "their",
		launch_join_method(join));
	fprintf(out,
		"%" PRIu64 " call%s without a task, %" PRIu64 " task%s without a call, %" PRIu64
		" ambiguous\n",
		join->unmatched_launches, plural_s(join->unmatched_launches), join->unmatched_tasks,
		plural_s(join->unmatched_tasks), join->ambiguous);
	if (join->tasks_outside)
		fprintf(out,
			"%" PRIu64 " more tasks were enqueued before or after calls were traced\n",
			join->tasks_outside);
	if (join->failed_launches)
		fprintf(out, "%" PRIu64 " more launching calls returned an error\n",
			join->failed_launches);
	if (join->unprofiled_launches)
		fprintf(out,
			"%" PRIu64 " launching calls are of processes without a device task "
			"stream\n",
			join->unprofiled_launches);
	for (uint32_t i = 0; i < devices->device_count; i++) {
		if (devices->devices[i].tasks)
			print_clock(out, report->model, devices, i);
	}
	return 0;
}

const struct section section_join = { join_text, NULL, VIEWS(&JOIN), .empty = join_empty };
