/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a device without marks of steps on the host.
 *
 * The host's loop is also visible in the device's tasks: copies, an optimizer (loop_find.h). If it is not, only a
 * repetition can be found: many names of kernels occur equally often, and each number of occurrences that many names
 * share is tried. The number with the highest confidence is the repetition; it begins with the one of its names
 * before which the device waits longest.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/calls/copy_way.h"
#include "analyzer/analyse/calls/loop_find.h"
#include "analyzer/analyse/calls/work_names.h"
#include "analyzer/analyse/device/device_step_find.h"
#include "analyzer/analyse/device/devices.h"

#define COUNTS_MAX 16 /* numbers of occurrences that are tried: those with most kernels */

/* Kernels of one name: order[first .. first + count), by start. */
struct group {
	uint64_t waited_ns; /* the device's waiting time before these kernels */
	uint32_t first;
	uint32_t count;
};

/* Names with the same number of occurrences. */
struct equals {
	uint64_t kernels;
	uint32_t count;
	uint32_t begin; /* index into groups: the name that begins the repetition */
};

struct inference {
	const struct device_tasks *of;
	struct loop_event *events; /* one per task */
	struct work_names names;
	uint32_t *order; /* kernels by (name, start) */
	uint32_t kernels;
	uint64_t *waited_ns; /* per task */
	MODEL_ARRAY(struct group) groups; /* by count */
	MODEL_ARRAY(struct equals) equals;
};

static const struct device_task *task_at(const struct device_tasks *of, uint32_t i)
{
	return &of->model->tasks.row[of->first + i];
}

static struct loop_event event_of(struct inference *in, uint32_t i)
{
	const struct device_tasks *of = in->of;
	const struct device_task *task = task_at(of, i);
	struct loop_event event = { .ns = task->start_ns,
				    .symbol = task->name,
				    .kind = LOOP_OTHER };

	if (!device_task_counts(task))
		return event;
	if (task->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL) {
		event.kind = LOOP_WORK;
		event.optimizer = (work_names_of(&in->names, task->name) |
				   work_names_of(&in->names, task->type)) &
				  WORK_NAME_OPTIMIZER;
	} else {
		event.collective = task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
		event.kind = task_copy_way(&in->names, task);
	}
	return event;
}

static bool prepare(struct inference *in)
{
	const struct device_tasks *of = in->of;
	uint64_t reach_ns = 0;

	in->events = calloc((size_t)of->count + 1, sizeof(*in->events));
	in->waited_ns = calloc((size_t)of->count + 1, sizeof(*in->waited_ns));
	if (!in->events || !in->waited_ns || !work_names_init(&in->names, of->model))
		return false;
	for (uint32_t i = 0; i < of->count; i++) {
		const struct device_task *task = task_at(of, i);

		in->events[i] = event_of(in, i);
		if (!device_task_counts(task))
			continue;
		if (reach_ns && task->start_ns > reach_ns)
			in->waited_ns[i] = task->start_ns - reach_ns;
		if (task->end_ns > reach_ns)
			reach_ns = task->end_ns;
	}
	in->order = loop_order(in->events, of->count, &in->kernels);
	return in->order;
}

static bool make_groups(struct inference *in)
{
	for (uint32_t first = 0, end; first < in->kernels; first = end) {
		uint32_t name = in->events[in->order[first]].symbol;
		struct group group = { .first = first };

		for (end = first; end < in->kernels && in->events[in->order[end]].symbol == name;
		     end++)
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

static bool begins_before(const struct inference *in, const struct group *group,
			  const struct group *other)
{
	if (group->waited_ns != other->waited_ns)
		return group->waited_ns > other->waited_ns;
	return in->order[group->first] < in->order[other->first];
}

static int by_kernels(const void *a, const void *b)
{
	const struct equals *x = a, *y = b;

	if (x->kernels != y->kernels)
		return x->kernels > y->kernels ? -1 : 1;
	return x->count < y->count ? -1 : x->count > y->count;
}

static bool make_equals(struct inference *in)
{
	if (in->groups.count)
		qsort(in->groups.row, in->groups.count, sizeof(struct group), by_count);
	for (uint32_t first = 0, end; first < in->groups.count; first = end) {
		struct equals equals = { .count = in->groups.row[first].count, .begin = first };

		for (end = first;
		     end < in->groups.count && in->groups.row[end].count == equals.count; end++) {
			equals.kernels += equals.count;
			if (begins_before(in, &in->groups.row[end], &in->groups.row[equals.begin]))
				equals.begin = end;
		}
		if (equals.count >= LOOP_TURNS_MIN && !MODEL_PUSH(&in->equals, equals))
			return false;
	}
	if (in->equals.count)
		qsort(in->equals.row, in->equals.count, sizeof(struct equals), by_kernels);
	return true;
}

static int find_repetition(struct inference *in, struct step_finding *finding)
{
	const struct group *best = NULL;

	if (!make_groups(in) || !make_equals(in))
		return -ENOMEM;
	finding->source = STEPS_REPETITION;
	finding->confidence = 0;
	for (uint32_t i = 0; i < in->equals.count && i < COUNTS_MAX; i++) {
		const struct group *group = &in->groups.row[in->equals.row[i].begin];
		double percent = loop_confidence(in->events, in->order, in->kernels,
						 in->order + group->first, group->count);

		if (percent >= LOOP_CONFIDENCE_MIN &&
		    (percent > finding->confidence ||
		     (percent == finding->confidence && group->count > best->count))) {
			finding->confidence = percent;
			best = group;
		}
	}
	if (!best)
		return 0;
	finding->fp_name = in->events[in->order[best->first]].symbol;
	return device_step_cut(in->of, in->order + best->first, best->count, finding);
}

/* The name of the first kernel of each turn, if it is the same in all turns; else 0. */
static uint32_t first_name(const struct inference *in, const struct loop_finding *loop)
{
	uint32_t name = 0;

	for (uint32_t i = 0; i < loop->count; i++) {
		uint32_t at = loop->begins[i];

		while (at < in->of->count && in->events[at].kind != LOOP_WORK)
			at++;
		if (at == in->of->count || (i && in->events[at].symbol != name))
			return 0;
		name = in->events[at].symbol;
	}
	return name;
}

/* Turns begin with copies, or with the first kernel after the end of the previous turn. */
static int find_loop(struct inference *in, struct step_finding *finding)
{
	struct loop_finding loop = { 0 };
	int err = loop_find(in->events, in->of->count, &loop);

	finding->source = STEPS_DEVICE;
	finding->evidence = loop.evidence;
	finding->confidence = loop.confidence;
	if (!err)
		finding->fp_name = first_name(in, &loop);
	if (!err)
		err = device_step_cut(in->of, loop.begins, loop.count, finding);
	loop_finding_free(&loop);
	return err;
}

int device_step_infer(const struct device_tasks *of, struct step_finding *finding)
{
	struct inference in = { .of = of };
	int err = prepare(&in) ? find_loop(&in, finding) : -ENOMEM;

	if (!err && !finding->steps.count)
		err = find_repetition(&in, finding);
	free(in.events);
	free(in.order);
	free(in.waited_ns);
	work_names_free(&in.names);
	free(in.groups.row);
	free(in.equals.row);
	return err;
}
