/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a device of which nobody said where they begin.
 *
 * A job does the same in each step: many kernels' names occur just as often as there are
 * steps. That number is the one which most kernels have in common. Of the names that occur so often,
 * the step begins with the one before which the device waits longest.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/device/device_step_find.h"
#include "analyzer/analyse/device/devices.h"

/* Rows of the same name: order[first .. first + count), by start. */
struct group {
	uint64_t waited_ns; /* by the device, before these */
	uint32_t first;
	uint32_t count;
};

struct inference {
	const struct device_tasks *of;
	uint32_t *order; /* kernels by (name, start): indices from of->first */
	uint32_t kernels;
	uint64_t *waited_ns; /* per task */
	MODEL_ARRAY(struct group) groups;
};

static const struct device_task *task_at(const struct device_tasks *of, uint32_t i)
{
	return &of->model->tasks.row[of->first + i];
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct device_tasks *of = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t x_name = task_at(of, x)->name, y_name = task_at(of, y)->name;

	if (x_name != y_name)
		return x_name < y_name ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool prepare(struct inference *in)
{
	const struct device_tasks *of = in->of;
	uint64_t reach_ns = 0;

	in->order = calloc((size_t)of->count + 1, sizeof(*in->order));
	in->waited_ns = calloc((size_t)of->count + 1, sizeof(*in->waited_ns));
	if (!in->order || !in->waited_ns)
		return false;
	for (uint32_t i = 0; i < of->count; i++) {
		const struct device_task *task = task_at(of, i);

		if (!device_task_counts(task))
			continue;
		if (reach_ns && task->start_ns > reach_ns)
			in->waited_ns[i] = task->start_ns - reach_ns;
		if (task->end_ns > reach_ns)
			reach_ns = task->end_ns;
		if (task->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL)
			in->order[in->kernels++] = i;
	}
	qsort_r(in->order, in->kernels, sizeof(*in->order), by_name, (void *)of);
	return true;
}

static bool make_groups(struct inference *in)
{
	for (uint32_t first = 0, end; first < in->kernels; first = end) {
		uint32_t name = task_at(in->of, in->order[first])->name;
		struct group group = { .first = first };

		for (end = first;
		     end < in->kernels && task_at(in->of, in->order[end])->name == name; end++)
			group.waited_ns += in->waited_ns[in->order[end]];
		group.count = end - first;
		if (!MODEL_PUSH(&in->groups, group))
			return false;
	}
	return true;
}

static int by_count(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* The count that most kernels' names have, at least STEPS_INFERRED_MIN; 0 = none. */
static uint32_t usual_count(struct inference *in)
{
	uint64_t most = 0;
	uint32_t best = 0;

	if (in->groups.count)
		qsort(in->groups.row, in->groups.count, sizeof(*in->groups.row), by_count);
	for (uint32_t first = 0, end; first < in->groups.count; first = end) {
		uint32_t count = in->groups.row[first].count;
		uint64_t kernels;

		for (end = first; end < in->groups.count && in->groups.row[end].count == count;)
			end++;
		kernels = (uint64_t)(end - first) * count;
		if (count >= STEPS_INFERRED_MIN && kernels > most) {
			most = kernels;
			best = count;
		}
	}
	return best;
}

/* The group with which steps begin: of those of @count the one waited for longest, else first. */
static const struct group *beginning(const struct inference *in, uint32_t count)
{
	const struct group *best = NULL;

	for (uint32_t i = 0; i < in->groups.count; i++) {
		const struct group *group = &in->groups.row[i];

		if (group->count != count)
			continue;
		if (!best || group->waited_ns > best->waited_ns ||
		    (group->waited_ns == best->waited_ns &&
		     in->order[group->first] < in->order[best->first]))
			best = group;
	}
	return best;
}

/* Do kernels of a group occur equally often in each whole step, between two beginnings? */
static bool is_regular(const struct inference *in, const struct group *group,
		       const struct group *begin, uint32_t *inside)
{
	const uint32_t *rows = in->order + group->first, *begins = in->order + begin->first;
	uint32_t row = 0, usual = 0;

	*inside = 0;
	while (row < group->count && rows[row] < begins[0])
		row++;
	for (uint32_t step = 0; step + 1 < begin->count; step++) {
		uint32_t here = 0;

		for (; row < group->count && rows[row] < begins[step + 1]; row++)
			here++;
		*inside += here;
		if (step && here != usual)
			usual = UINT32_MAX;
		else if (step == 0)
			usual = here;
	}
	return usual != UINT32_MAX;
}

/*
 * Percent of the kernels in whole steps that are there in each of them.
 *
 * Something that repeats in a small part of the recording is no step: before the first beginning and
 * after the last one there can be a part of a step each, not more.
 */
static double confidence(const struct inference *in, const struct group *begin)
{
	double expected = (double)in->kernels * (begin->count - 1) / (begin->count + 1);
	uint64_t regular = 0, all = 0;

	for (uint32_t i = 0; i < in->groups.count; i++) {
		uint32_t inside;

		if (is_regular(in, &in->groups.row[i], begin, &inside))
			regular += inside;
		all += inside;
	}
	if ((double)all > expected)
		expected = (double)all;
	return expected > 0 ? 100.0 * (double)regular / expected : 0;
}

static bool add_steps(const struct inference *in, const struct group *begin,
		      struct step_finding *finding)
{
	uint32_t row = 0;

	finding->fp_name = task_at(in->of, in->order[begin->first])->name;
	for (uint32_t i = 0; i < begin->count; i++) {
		struct step_bounds bounds = {
			.number = i,
			.fp_start_ns = task_at(in->of, in->order[begin->first + i])->start_ns
		};
		uint64_t until_ns =
			i + 1 < begin->count
				? task_at(in->of, in->order[begin->first + i + 1])->start_ns
				: UINT64_MAX;

		if (device_step_close(in->of, &bounds, until_ns, &row) &&
		    !MODEL_PUSH(&finding->steps, bounds))
			return false;
	}
	return true;
}

int device_step_infer(const struct device_tasks *of, struct step_finding *finding)
{
	struct inference in = { .of = of };
	bool ok = prepare(&in) && make_groups(&in);
	uint32_t count = ok ? usual_count(&in) : 0;

	finding->source = STEPS_INFERRED;
	if (ok && count) {
		const struct group *begin = beginning(&in, count);

		finding->confidence = confidence(&in, begin);
		if (finding->confidence >= STEPS_CONFIDENCE_MIN)
			ok = add_steps(&in, begin, finding);
	}
	free(in.order);
	free(in.waited_ns);
	free(in.groups.row);
	return ok ? 0 : -ENOMEM;
}
