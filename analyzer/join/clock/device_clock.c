/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/clock/device_clock.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/join/clock/clock_bounds.h"
#include "analyzer/join/clock/clock_steps.h"

/* The tasks of one device, and the conversion of their times to CLOCK_MONOTONIC. */
struct conversion {
	const struct sync_calls *syncs;
	uint32_t first; /* index into model->tasks */
	uint32_t count;
	struct clock_table *clocks;
	struct clock_line line; /* DEVICE_CLOCK_CAUSALITY* */
	struct clock_steps *steps; /* DEVICE_CLOCK_STEPS; replaces line if not NULL */
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

bool device_clock_to_monotonic(const struct model *model, uint8_t clock, uint64_t device_ns,
			       uint64_t *monotonic_ns)
{
	enum clock_kind kind;

	if (!declared_kind(clock, &kind))
		return false;
	*monotonic_ns = device_ns;
	return kind == CLOCK_KIND_MONOTONIC ||
	       (clock_table_count(model->clocks) &&
		clock_table_to_monotonic(model->clocks, kind, device_ns, monotonic_ns) == 0);
}

bool device_clock_from_monotonic(const struct model *model, uint8_t clock, uint64_t monotonic_ns,
				 uint64_t *device_ns)
{
	enum clock_kind kind;

	if (!declared_kind(clock, &kind))
		return false;
	*device_ns = monotonic_ns;
	return kind == CLOCK_KIND_MONOTONIC ||
	       (clock_table_count(model->clocks) &&
		clock_table_from_monotonic(model->clocks, kind, monotonic_ns, device_ns) == 0);
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
		[DEVICE_CLOCK_OWN] = "the device file's own clock",
		[DEVICE_CLOCK_CORRECTED] = "declared clock, corrected by causality",
	};

	return method < sizeof(text) / sizeof(*text) ? text[method] : "none";
}

/*
 * Returns the largest distance of a snapshot from the line between its neighbours: the worst error of the conversion
 * between two snapshots.
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

/* Fits several lines where one line does not satisfy the bounds. */
static int fit_steps(struct conversion *conversion, struct clock_bounds *bounds,
		     struct device_clock *clock, bool *fits)
{
	struct clock_steps *steps = calloc(1, sizeof(*steps));

	if (!steps)
		return -ENOMEM;
	*fits = clock_steps_fit(bounds->row, bounds->count, steps);
	if (!*fits) {
		free(steps);
		return 0;
	}
	conversion->steps = steps;
	clock->error_ns = steps->error_ns;
	clock->step_error_ns = steps->step_error_ns;
	clock->steps = steps->count - 1;
	clock->ignored = steps->ignored;
	return 0;
}

/* Fits an undeclared clock; without the queued instants if these contradict the other bounds. */
static int fit_undeclared(const struct model *model, struct conversion *conversion,
			  struct device_clock *clock)
{
	struct clock_bounds bounds = { 0 };
	struct clock_line *line = &conversion->line;
	bool stepped = false;
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
		error = fit_steps(conversion, &bounds, clock, &stepped);
		if (error)
			goto cleanup;
		if (stepped) {
			conversion->method = DEVICE_CLOCK_CAUSALITY;
			goto cleanup;
		}
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
	const struct device *device = &model->devices.row[model->tasks.row[conversion->first].device];
	uint64_t ignored;

	clock->error_ns = UINT64_MAX;
	conversion->clocks = model->clocks;
	conversion->method = DEVICE_CLOCK_NONE;
	if (device->own_clock) {
		conversion->method = DEVICE_CLOCK_OWN;
		return 0;
	}
	if (!declared_kind(clock->clock, &conversion->kind))
		return fit_undeclared(model, conversion, clock);
	if (conversion->kind == CLOCK_KIND_MONOTONIC) {
		conversion->method = DEVICE_CLOCK_MONOTONIC;
		if (!device->anchored)
			clock->error_ns = 0;
	} else if (clock_table_count(model->clocks) &&
		   clock_table_to_monotonic(model->clocks, conversion->kind,
					    clock_snapshot_value(clock_table_get(model->clocks, 0),
								 conversion->kind),
					    &ignored) == 0) {
		conversion->method = DEVICE_CLOCK_SNAPSHOTS;
		if (!device->anchored)
			clock->error_ns = snapshot_error(model->clocks, conversion->kind);
	} else {
		return fit_undeclared(model, conversion, clock);
	}
	return 0;
}

/*
 * Returns the line for a task. At a step of the clock the task's launch may decide between two lines: the task cannot
 * have started before it.
 */
static const struct clock_line *line_of(const struct conversion *conversion,
					const struct device_task *task, bool *sure)
{
	const struct clock_line *line, *other;
	uint64_t at_ns = task->start_ns ? task->start_ns : task->queued_ns;

	*sure = true;
	if (!conversion->steps)
		return &conversion->line;
	line = clock_steps_at(conversion->steps, at_ns, sure, &other);
	if (!*sure && other && task->enqueue_ns && task->start_ns &&
	    clock_line_apply(line, task->start_ns) < task->enqueue_ns &&
	    clock_line_apply(other, task->start_ns) >= task->enqueue_ns)
		line = other;
	return line;
}

/* 0 stays 0; an instant that cannot be converted becomes 0, "not reported". */
static uint64_t convert(const struct conversion *conversion, const struct clock_line *line,
			uint64_t device_ns)
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
	case DEVICE_CLOCK_CORRECTED:
	case DEVICE_CLOCK_DISAGREES: return clock_line_apply(line, device_ns);
	default: return device_ns;
	}
}

static void convert_task(const struct conversion *conversion, struct device_task *task)
{
	bool sure;
	const struct clock_line *line = line_of(conversion, task, &sure);

	if (!sure)
		task->flags |= MODEL_TASK_AT_STEP;
	task->queued_ns = convert(conversion, line, task->queued_ns);
	task->submit_ns = convert(conversion, line, task->submit_ns);
	task->start_ns = convert(conversion, line, task->start_ns);
	task->end_ns = convert(conversion, line, task->end_ns);
}

static void judge_task(struct device_task *task, struct device_clock *clock)
{
	if (has_times(task))
		clock->tasks++;
	clock->at_steps += (task->flags & MODEL_TASK_AT_STEP) != 0;
	clock->negative += (task->flags & MODEL_TASK_NEGATIVE) != 0;
	if (!task->start_ns || !task->end_ns || task->end_ns < task->start_ns)
		task->flags |= MODEL_TASK_UNTIMED;
	else if (task->enqueue_ns && task->start_ns < task->enqueue_ns)
		clock->before_enqueue++;
}

static uint64_t convert_instant(const struct conversion *conversion, uint64_t device_ns)
{
	const struct device_task task = { .start_ns = device_ns };
	bool sure;

	return convert(conversion, line_of(conversion, &task, &sure), device_ns);
}

/* Reports the offset at the device's first instant, and its growth; with several pieces, the growth of the longest. */
static void describe(const struct conversion *conversion, uint64_t first_ns, uint64_t last_ns,
		     struct device_clock *clock)
{
	int64_t first_offset = (int64_t)(convert_instant(conversion, first_ns) - first_ns);
	int64_t last_offset = (int64_t)(convert_instant(conversion, last_ns) - last_ns);
	const struct clock_steps *steps = conversion->steps;
	uint32_t longest = 0;

	clock->method = conversion->method;
	clock->offset_ns = first_offset;
	if (steps) {
		for (uint32_t i = 1; i < steps->count; i++) {
			if (steps->piece[i].to_ns - steps->piece[i].from_ns >
			    steps->piece[longest].to_ns - steps->piece[longest].from_ns)
				longest = i;
		}
		clock->drift_ppb = (int64_t)(steps->piece[longest].line.drift * 1e9);
	} else if (conversion->method == DEVICE_CLOCK_CAUSALITY ||
		   conversion->method == DEVICE_CLOCK_DISAGREES) {
		clock->drift_ppb = (int64_t)(conversion->line.drift * 1e9);
	} else if (last_ns > first_ns) {
		clock->drift_ppb = (int64_t)((double)(last_offset - first_offset) * 1e9 /
					     (double)(last_ns - first_ns));
	}
}

static void time_range(const struct device_task *tasks, uint32_t count, uint64_t *first_ns,
		       uint64_t *last_ns)
{
	*first_ns = UINT64_MAX;
	*last_ns = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!tasks[i].start_ns)
			continue;
		if (tasks[i].start_ns < *first_ns)
			*first_ns = tasks[i].start_ns;
		if (tasks[i].start_ns > *last_ns)
			*last_ns = tasks[i].start_ns;
	}
}

/* Do the unchanged times violate a bound? */
static bool contradicts(const struct clock_bounds *bounds)
{
	for (uint32_t i = 0; i < bounds->count; i++) {
		const struct clock_bound *bound = &bounds->row[i];

		if (bound->upper ? bound->offset_ns < 0 : bound->offset_ns > 0)
			return true;
	}
	return false;
}

/*
 * Returns the error that causality permits for a clock that it does not contradict: the unchanged clock is a possible
 * choice, but not a proven one.
 */
static uint64_t doubt(struct conversion *conversion, uint64_t first_ns, uint64_t last_ns,
		      uint64_t error_ns)
{
	uint64_t most = 0;

	conversion->method = DEVICE_CLOCK_CORRECTED;
	for (int i = 0; i < 2; i++) {
		uint64_t ns = i ? last_ns : first_ns, corrected = convert_instant(conversion, ns);
		uint64_t off = corrected > ns ? corrected - ns : ns - corrected;

		most = off > most ? off : most;
	}
	return most + error_ns;
}

static void correct_instant(const struct conversion *conversion, uint64_t *ns)
{
	if (*ns)
		*ns = convert_instant(conversion, *ns);
}

/* The device's steps and their collectives use the same clock. */
static void correct_steps(struct model *model, const struct conversion *conversion, uint32_t device)
{
	for (uint32_t i = 0; i < model->device_steps.count; i++) {
		struct device_step *step = &model->device_steps.row[i];

		if (step->device != device)
			continue;
		correct_instant(conversion, &step->fp_start_ns);
		correct_instant(conversion, &step->bp_end_ns);
		correct_instant(conversion, &step->end_ns);
		for (uint32_t k = step->first_reduce;
		     k < step->first_reduce + step->reduce_count && k < model->device_reduces.count;
		     k++) {
			correct_instant(conversion, &model->device_reduces.row[k].start_ns);
			correct_instant(conversion, &model->device_reduces.row[k].end_ns);
		}
	}
}

/*
 * Corrects a declared clock, whose times are already CLOCK_MONOTONIC, if reliably joined tasks show that it cannot be
 * right: a profiler that anchors a device's counter only once lets it drift away. If no line satisfies the bounds, the
 * times stay unchanged.
 */
static int correct(struct model *model, const struct conversion *declared,
		   struct device_clock *clock)
{
	struct device_task *tasks = model->tasks.row + declared->first;
	struct conversion conversion = *declared;
	struct clock_bounds bounds = { 0 };
	bool joined = false, fits = false, wrong;
	uint64_t first_ns, last_ns;
	int64_t offset_ns = clock->offset_ns;
	int64_t drift_ppb = clock->drift_ppb;
	int error;

	for (uint32_t i = 0; i < declared->count; i++) {
		joined |= clock_task_is_sure(model, &tasks[i]);
		if (tasks[i].enqueue_ns && tasks[i].start_ns &&
		    tasks[i].start_ns < tasks[i].enqueue_ns)
			tasks[i].flags |= MODEL_TASK_NEGATIVE;
	}
	if (!joined)
		return 0;
	error = clock_bounds_collect(model, declared->syncs, declared->first, declared->count,
				     false, &bounds);
	wrong = contradicts(&bounds);
	if (!error)
		error = fit_steps(&conversion, &bounds, clock, &fits);
	free(bounds.row);
	if (!error && !fits && wrong)
		clock->error_ns = UINT64_MAX;
	if (error || !fits)
		return error;
	if (!wrong) {
		first_ns = conversion.steps->piece[0].from_ns;
		last_ns = conversion.steps->piece[0].to_ns;
		clock->error_ns = doubt(&conversion, first_ns, last_ns, clock->error_ns);
		clock->steps = clock->ignored = 0;
		free(conversion.steps);
		return 0;
	}
	conversion.method = DEVICE_CLOCK_CORRECTED;
	time_range(tasks, declared->count, &first_ns, &last_ns);
	describe(&conversion, first_ns, last_ns, clock);
	clock->correction_ns = clock->offset_ns;
	clock->correction_ppb = clock->drift_ppb;
	clock->offset_ns += offset_ns;
	clock->drift_ppb += drift_ppb;
	for (uint32_t i = 0; i < declared->count; i++)
		convert_task(&conversion, &tasks[i]);
	correct_steps(model, &conversion, tasks->device);
	free(conversion.steps);
	return 0;
}

static int join_device(struct model *model, struct conversion *conversion,
		       struct device_clock *clock)
{
	struct device_task *tasks = model->tasks.row + conversion->first;
	uint64_t first_ns, last_ns;
	int error = choose_method(model, conversion, clock);

	if (error)
		return error;
	time_range(tasks, conversion->count, &first_ns, &last_ns);
	if (last_ns)
		describe(conversion, first_ns, last_ns, clock);
	for (uint32_t i = 0; i < conversion->count; i++)
		convert_task(conversion, &tasks[i]);
	free(conversion->steps);
	conversion->steps = NULL;
	if (conversion->method == DEVICE_CLOCK_SNAPSHOTS ||
	    conversion->method == DEVICE_CLOCK_MONOTONIC)
		error = correct(model, conversion, clock);
	for (uint32_t i = 0; i < conversion->count; i++)
		judge_task(&tasks[i], clock);
	return error;
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
