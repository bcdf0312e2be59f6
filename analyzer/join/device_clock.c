/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/device_clock.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/join/clock_bounds.h"

/* The tasks of one device, and how their times become CLOCK_MONOTONIC. */
struct conversion {
	const struct sync_calls *syncs;
	uint32_t first; /* of model->tasks */
	uint32_t count;
	struct clock_table *clocks;
	struct clock_line line; /* DEVICE_CLOCK_CAUSALITY* */
	enum clock_kind kind; /* DEVICE_CLOCK_SNAPSHOTS */
	uint8_t method;
};

static bool declared_kind(uint8_t clock, enum clock_kind *kind)
{
	switch (clock) {
	case PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC: *kind = CLOCK_KIND_MONOTONIC; return true;
	case PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW:
		*kind = CLOCK_KIND_MONOTONIC_RAW;
		return true;
	case PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME: *kind = CLOCK_KIND_BOOTTIME; return true;
	case PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME: *kind = CLOCK_KIND_REALTIME; return true;
	default: return false;
	}
}

const char *device_clock_name(uint8_t clock)
{
	enum clock_kind kind;

	return declared_kind(clock, &kind) ? clock_kind_name(kind) : "undeclared";
}

const char *device_clock_method_text(uint8_t method)
{
	static const char *const text[] = {
		[DEVICE_CLOCK_NONE] = "none",
		[DEVICE_CLOCK_MONOTONIC] = "declared clock, no conversion needed",
		[DEVICE_CLOCK_SNAPSHOTS] = "declared clock, by snapshots",
		[DEVICE_CLOCK_CAUSALITY] = "causality",
		[DEVICE_CLOCK_CAUSALITY_LOWER] = "causality, lower bounds only",
		[DEVICE_CLOCK_DISAGREES] = "causality, contradictory",
	};

	return method < sizeof(text) / sizeof(*text) ? text[method] : "none";
}

/*
 * How far snapshots stray from the line between their neighbours: what the conversion
 * gets wrong between two of them at worst.
 */
static uint64_t snapshot_error(struct clock_table *clocks, enum clock_kind kind)
{
	size_t count = clock_table_count(clocks);
	double worst = -1;

	for (size_t i = 1; i + 1 < count; i++) {
		const struct clock_snapshot *a = clock_table_get(clocks, i - 1);
		const struct clock_snapshot *b = clock_table_get(clocks, i);
		const struct clock_snapshot *c = clock_table_get(clocks, i + 1);
		uint64_t from = clock_snapshot_value(a, kind), at = clock_snapshot_value(b, kind);
		uint64_t to = clock_snapshot_value(c, kind);
		double expected, stray;

		if (from >= to || at < from || at > to)
			continue;
		expected = (double)(c->monotonic_ns - a->monotonic_ns) * (double)(at - from) /
			   (double)(to - from);
		stray = (double)(b->monotonic_ns - a->monotonic_ns) - expected;
		stray = stray < 0 ? -stray : stray;
		if (stray > worst)
			worst = stray;
	}
	return worst < 0 || worst > 9e18 ? UINT64_MAX : (uint64_t)(worst + 0.5);
}

static bool has_times(const struct device_task *task)
{
	return task->queued_ns || task->submit_ns || task->start_ns || task->end_ns;
}

/* Fit an undeclared clock; without the queued instants if these contradict the rest. */
static int fit_undeclared(const struct model *model, struct conversion *conversion,
			  struct device_clock *clock)
{
	struct clock_bounds bounds = { 0 };
	struct clock_line *line = &conversion->line;
	int error;

	for (int queued = 1; queued >= 0; queued--) {
		error = clock_bounds_collect(model, conversion->syncs, conversion->first,
					     conversion->count, queued, &bounds);
		if (error)
			goto cleanup;
		if (!clock_fit(bounds.row, bounds.count, line))
			goto cleanup;
		if (line->consistent)
			break;
	}
	if (!line->consistent)
		conversion->method = DEVICE_CLOCK_DISAGREES;
	else if (line->bounded_below && line->bounded_above)
		conversion->method = DEVICE_CLOCK_CAUSALITY;
	else
		conversion->method = DEVICE_CLOCK_CAUSALITY_LOWER;
	clock->error_ns = line->error_ns;
cleanup:
	free(bounds.row);
	return error;
}

static int choose_method(const struct model *model, struct conversion *conversion,
			 struct device_clock *clock)
{
	uint64_t ignored;

	clock->error_ns = UINT64_MAX;
	conversion->clocks = model->clocks;
	conversion->method = DEVICE_CLOCK_NONE;
	if (!declared_kind(clock->clock, &conversion->kind))
		return fit_undeclared(model, conversion, clock);
	if (conversion->kind == CLOCK_KIND_MONOTONIC) {
		conversion->method = DEVICE_CLOCK_MONOTONIC;
		clock->error_ns = 0;
	} else if (clock_table_count(model->clocks) &&
		   clock_table_to_monotonic(model->clocks, conversion->kind,
					    clock_snapshot_value(clock_table_get(model->clocks, 0),
								 conversion->kind),
					    &ignored) == 0) {
		conversion->method = DEVICE_CLOCK_SNAPSHOTS;
		clock->error_ns = snapshot_error(model->clocks, conversion->kind);
	} else {
		return fit_undeclared(model, conversion, clock);
	}
	return 0;
}

/* 0 stays 0; an instant that can't be converted becomes 0, "not reported". */
static uint64_t convert(const struct conversion *conversion, uint64_t device_ns)
{
	uint64_t host_ns;

	if (!device_ns)
		return 0;
	switch (conversion->method) {
	case DEVICE_CLOCK_SNAPSHOTS:
		return clock_table_to_monotonic(conversion->clocks, conversion->kind, device_ns,
						&host_ns)
			       ? 0
			       : host_ns;
	case DEVICE_CLOCK_CAUSALITY:
	case DEVICE_CLOCK_CAUSALITY_LOWER:
	case DEVICE_CLOCK_DISAGREES: return clock_line_apply(&conversion->line, device_ns);
	default: return device_ns;
	}
}

static void convert_task(const struct conversion *conversion, struct device_task *task,
			 struct device_clock *clock)
{
	if (has_times(task))
		clock->tasks++;
	task->queued_ns = convert(conversion, task->queued_ns);
	task->submit_ns = convert(conversion, task->submit_ns);
	task->start_ns = convert(conversion, task->start_ns);
	task->end_ns = convert(conversion, task->end_ns);
	if (!task->start_ns || !task->end_ns || task->end_ns < task->start_ns)
		task->flags |= MODEL_TASK_UNTIMED;
	else if (task->enqueue_ns && task->start_ns < task->enqueue_ns)
		clock->before_enqueue++;
}

/* Offset at the device's first instant, and its growth up to the last one. */
static void describe(const struct conversion *conversion, uint64_t first_ns, uint64_t last_ns,
		     struct device_clock *clock)
{
	int64_t first_offset = (int64_t)(convert(conversion, first_ns) - first_ns);
	int64_t last_offset = (int64_t)(convert(conversion, last_ns) - last_ns);

	clock->method = conversion->method;
	clock->offset_ns = first_offset;
	if (conversion->method == DEVICE_CLOCK_CAUSALITY ||
	    conversion->method == DEVICE_CLOCK_DISAGREES)
		clock->drift_ppb = (int64_t)(conversion->line.drift * 1e9);
	else if (last_ns > first_ns)
		clock->drift_ppb = (int64_t)((double)(last_offset - first_offset) * 1e9 /
					     (double)(last_ns - first_ns));
}

static int join_device(struct model *model, struct conversion *conversion,
		       struct device_clock *clock)
{
	struct device_task *tasks = model->tasks.row + conversion->first;
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	int error = choose_method(model, conversion, clock);

	if (error)
		return error;
	for (uint32_t i = 0; i < conversion->count; i++) {
		if (!tasks[i].start_ns)
			continue;
		if (tasks[i].start_ns < first_ns)
			first_ns = tasks[i].start_ns;
		if (tasks[i].start_ns > last_ns)
			last_ns = tasks[i].start_ns;
	}
	if (last_ns)
		describe(conversion, first_ns, last_ns, clock);
	for (uint32_t i = 0; i < conversion->count; i++)
		convert_task(conversion, &tasks[i], clock);
	return 0;
}

static int by_device_start(const void *a, const void *b)
{
	const struct device_task *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->enqueue_ns < y->enqueue_ns ? -1 : x->enqueue_ns > y->enqueue_ns;
}

static void sort_tasks(struct model *model)
{
	if (model->tasks.count)
		qsort(model->tasks.row, model->tasks.count, sizeof(*model->tasks.row),
		      by_device_start);
}

int device_clocks_join(struct model *model, struct device_clock *clocks)
{
	struct sync_calls syncs;
	int error = sync_calls_collect(model, &syncs);

	for (uint32_t i = 0; i < model->devices.count; i++)
		clocks[i] = (struct device_clock){ .clock = model->devices.row[i].clock };
	sort_tasks(model);
	for (uint32_t first = 0, end; first < model->tasks.count && !error; first = end) {
		uint32_t device = model->tasks.row[first].device;
		struct conversion conversion = { .syncs = &syncs, .first = first };

		end = first;
		while (end < model->tasks.count && model->tasks.row[end].device == device)
			end++;
		conversion.count = end - first;
		if (device < model->devices.count)
			error = join_device(model, &conversion, &clocks[device]);
	}
	sort_tasks(model);
	free(syncs.row);
	return error;
}
