/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/cluster/straggler.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "lib/base/map.h"

#define KERNELS_MAX 64 /* the straggler's kernels with most time: the others explain nothing */
#define LEAST 0.01 /* of the window: a smaller excess does not count */
#define ALIKE 0.1 /* by which factors may differ if the clock is the reason */
#define SLOWER 1.05

/* All runs of a kernel on a device: the list may have several rows of one name, of different types or cores. */
struct runs {
	uint64_t count;
	uint64_t total_ns;
};

/* A kernel of the straggler. */
struct kernel {
	uint32_t name; /* string */
	const struct runs *own;
	double factor; /* its mean ÷ the others' median; 0 = the others do not have it */
	double mean_others; /* ns */
	double count_others;
	double excess_ns;
};

struct comparison {
	const struct model *model;
	const struct device_results *devices;
	uint32_t device;
	uint32_t job; /* of the device: other ranks are those of this job */
	struct kernel kernels[KERNELS_MAX];
	uint32_t kernel_count;
	double *values; /* of the ranks, for medians */
	struct runs *runs; /* by kernel, then device */
};

const char *straggler_why_name(uint8_t why)
{
	static const char *const NAMES[] = { NULL, "clock", "kernel", "work", "data", "host" };

	return why < sizeof(NAMES) / sizeof(*NAMES) ? NAMES[why] : NULL;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, uint32_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static const struct device_usage *usage_of(const struct comparison *of, uint32_t device)
{
	return &of->devices->devices[device];
}

/* Returns the straggler's excess over the median of the others. */
static double excess(const struct comparison *of, uint64_t (*figure)(const struct device_usage *),
		     double *others)
{
	const struct communication_results *ranks = &of->devices->communication;
	uint32_t count = 0;

	for (uint32_t i = 0; i < ranks->rank_count; i++)
		if (ranks->ranks[i].device != of->device && ranks->ranks[i].job == of->job)
			of->values[count++] = (double)figure(usage_of(of, ranks->ranks[i].device));
	*others = median(of->values, count);
	return (double)figure(usage_of(of, of->device)) - *others;
}

static uint64_t compute_of(const struct device_usage *usage)
{
	return usage->compute_ns;
}

static uint64_t idle_of(const struct device_usage *usage)
{
	return usage->idle_ns;
}

static struct runs *runs_of(const struct comparison *of, uint32_t number, uint32_t device)
{
	return &of->runs[(size_t)number * of->devices->device_count + device];
}

/* Finds the straggler's kernels, and their runs on all ranks. */
static int find_kernels(struct comparison *of, struct map *numbers)
{
	const struct operator_list *list = &of->devices->operators;
	uint32_t devices = of->devices->device_count;

	for (uint32_t i = 0; i < list->count && of->kernel_count < KERNELS_MAX; i++) {
		const struct operator_usage *row = &list->rows[i];

		if (row->device != of->device || row->kind != PROFBPF__DEVICE_TASKS__KIND__KERNEL ||
		    !row->count || map_get(numbers, row->name) != MAP_NONE)
			continue;
		if (!map_put(numbers, row->name, of->kernel_count))
			return -ENOMEM;
		of->kernels[of->kernel_count++].name = row->name;
	}
	of->runs = calloc((size_t)of->kernel_count * devices + 1, sizeof(*of->runs));
	if (!of->runs)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct operator_usage *row = &list->rows[i];
		uint32_t number = map_get(numbers, row->name);

		if (number == MAP_NONE || row->device >= devices ||
		    row->kind != PROFBPF__DEVICE_TASKS__KIND__KERNEL)
			continue;
		runs_of(of, number, row->device)->count += row->count;
		runs_of(of, number, row->device)->total_ns += row->total_ns;
	}
	return 0;
}

static void compare_kernel(struct comparison *of, uint32_t number)
{
	const struct communication_results *ranks = &of->devices->communication;
	struct kernel *kernel = &of->kernels[number];
	const struct runs *own = runs_of(of, number, of->device);
	double own_ns = (double)own->total_ns, mean = own_ns / (double)own->count;
	double *means = of->values, *counts = means + ranks->rank_count;
	double *totals = counts + ranks->rank_count;
	uint32_t count = 0;

	for (uint32_t i = 0; i < ranks->rank_count; i++) {
		uint32_t device = ranks->ranks[i].device;
		const struct runs *runs = runs_of(of, number, device);

		if (device == of->device || ranks->ranks[i].job != of->job || !runs->count)
			continue;
		means[count] = (double)runs->total_ns / (double)runs->count;
		counts[count] = (double)runs->count;
		totals[count++] = (double)runs->total_ns;
	}
	kernel->own = own;
	kernel->mean_others = median(means, count);
	kernel->count_others = median(counts, count);
	kernel->excess_ns = own_ns - median(totals, count);
	kernel->factor = kernel->mean_others > 0 ? mean / kernel->mean_others : 0;
}

/* Are the kernels with most of the time all slower by nearly the same factor? */
static bool is_clock(const struct comparison *of, double factor)
{
	double alike_ns = 0, all_ns = 0;
	uint32_t names = 0;

	for (uint32_t i = 0; i < of->kernel_count; i++) {
		const struct kernel *kernel = &of->kernels[i];
		double ns = (double)kernel->own->total_ns;

		all_ns += ns;
		if (kernel->factor < factor * (1 - ALIKE) || kernel->factor > factor * (1 + ALIKE))
			continue;
		alike_ns += ns;
		names++;
	}
	return factor > SLOWER && names > 2 && alike_ns > 0.9 * all_ns;
}

static void blame_kernels(struct comparison *of, double factor, struct straggler *straggler)
{
	const struct kernel *most = NULL;

	for (uint32_t i = 0; i < of->kernel_count; i++) {
		compare_kernel(of, i);
		if (!most || of->kernels[i].excess_ns > most->excess_ns)
			most = &of->kernels[i];
	}
	if (is_clock(of, factor)) {
		straggler->why = STRAGGLER_CLOCK;
		straggler->own = factor;
		straggler->others = 1;
	} else if (most && most->excess_ns > 0) {
		bool slower = most->factor > SLOWER || !most->factor;

		straggler->why = slower ? STRAGGLER_KERNEL : STRAGGLER_WORK;
		straggler->name = most->name;
		straggler->own = slower ? (double)most->own->total_ns / (double)most->own->count
					: (double)most->own->count;
		straggler->others = slower ? most->mean_others : most->count_others;
	}
}

/* Returns the heaviest root whose chain begins in the straggler's process; NULL if other devices share that process. */
static const struct idle_root *heaviest_root(const struct comparison *of)
{
	const struct model *model = of->model;
	const struct idle_roots *roots = of->devices->idle.roots;
	uint32_t process = model->devices.row[of->device].process;
	const struct idle_root *most = NULL;

	if (!roots || process >= model->processes.count)
		return NULL;
	for (uint32_t i = 0; i < model->devices.count; i++)
		if (i != of->device && model->devices.row[i].process == process)
			return NULL;
	for (uint32_t i = 0; i < roots->count; i++) {
		const struct idle_root *row = &roots->row[i];
		uint32_t thread = row->hop_count ? row->hops[0].thread : INDEX_NONE;

		if (thread < model->threads.count && model->threads.row[thread].process == process &&
		    (!most || row->ns > most->ns))
			most = row;
	}
	return most;
}

static void blame_host(const struct comparison *of, double others, struct straggler *straggler)
{
	const struct idle_root *root = heaviest_root(of);
	const struct model *model = of->model;

	straggler->why = root && root->root.cause == IDLE_PIPELINE ? STRAGGLER_DATA
								   : STRAGGLER_HOST;
	straggler->own = (double)usage_of(of, of->device)->idle_ns;
	straggler->others = others;
	if (root && root->root.place_kind == PLACE_FUNCTION &&
	    root->root.place < model->functions.count)
		straggler->name = model->functions.row[root->root.place].name;
}

static int explain(struct comparison *of, struct straggler *straggler)
{
	struct map numbers = { 0 };
	double window_ns = (double)usage_of(of, of->device)->window_ns, compute, idle;
	double more_compute = excess(of, compute_of, &compute);
	double more_idle = excess(of, idle_of, &idle);
	int err = 0;

	if (more_compute >= more_idle && more_compute > LEAST * window_ns &&
	    of->devices->operators.by == OPERATOR_BY_NAME) {
		err = find_kernels(of, &numbers);
		if (!err)
			blame_kernels(of,
				      compute > 0 ? (compute + more_compute) / compute : 0,
				      straggler);
	} else if (more_idle > LEAST * window_ns) {
		blame_host(of, idle, straggler);
	}
	map_free(&numbers);
	return err;
}

int straggler_explain(const struct model *model, const struct device_results *devices,
		      uint32_t device, struct straggler *straggler)
{
	const struct communication_results *ranks = &devices->communication;
	struct comparison of = { .model = model, .devices = devices, .device = device };
	int err = -ENOMEM;

	*straggler = (struct straggler){ .device = device };
	if (device >= devices->device_count || !devices->devices || !ranks->rank_count)
		return 0;
	for (uint32_t i = 0; i < ranks->rank_count; i++) {
		if (ranks->ranks[i].device != device)
			continue;
		straggler->late_ns = ranks->ranks[i].late_ns;
		of.job = ranks->ranks[i].job;
	}
	if (usage_of(&of, device)->window_ns)
		straggler->percent = 100 * (double)straggler->late_ns /
				     (double)usage_of(&of, device)->window_ns;
	of.values = calloc(3 * (size_t)ranks->rank_count + 1, sizeof(*of.values));
	if (of.values)
		err = explain(&of, straggler);
	free(of.values);
	free(of.runs);
	return err;
}
