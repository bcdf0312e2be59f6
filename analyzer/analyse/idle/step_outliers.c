/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/step_outliers.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/analyse/host/thread_walk.h"
#include "analyzer/join/launch/launch_counts.h"

struct one_step {
	uint64_t number;
	uint64_t start_ns;
	uint64_t end_ns;
	bool is_outlier;
};

struct search {
	const struct model *model;
	const struct analysis_window *window;
	struct step_outliers *outliers;
	MODEL_ARRAY(struct one_step) steps; /* by start */
	uint32_t thread; /* the thread whose activity is compared; INDEX_NONE: none */
	struct idle_tools tools;
	struct idle_roots usual; /* of @usual_steps together */
	uint32_t usual_steps;
};

static bool add_step(struct search *search, uint64_t number, uint64_t start_ns, uint64_t end_ns)
{
	struct one_step step = { number, start_ns, end_ns, false };

	return end_ns <= start_ns || MODEL_PUSH(&search->steps, step);
}

/* Returns the thread of a process that launches most, else its main thread. */
static uint32_t launching_thread(const struct model *model, uint32_t process)
{
	uint64_t *launches = launch_counts(model);
	uint32_t best = INDEX_NONE;

	if (!launches || process >= model->processes.count)
		goto out;
	for (uint32_t t = 0; t < model->threads.count; t++) {
		const struct thread *thread = &model->threads.row[t];
		bool is_main = thread->tid == model->processes.row[process].pid;

		if (thread->process == process &&
		    (best == INDEX_NONE ? launches[t] || is_main : launches[t] > launches[best]))
			best = t;
	}
out:
	free(launches);
	return best;
}

static int add_trainer(struct search *search, const struct pipeline_steps *steps)
{
	search->thread = steps->usage->fetch.thread;
	for (uint32_t i = 0; i < steps->count; i++) {
		const struct step *step = &steps->rows[i];

		if (step->index >= STEPS_WARM_UP &&
		    !add_step(search, step->index, step->start_ns,
			      step->start_ns + step->duration_ns))
			return -ENOMEM;
	}
	return 0;
}

static int add_device(struct search *search, const struct device_step_trace *trace)
{
	search->thread = launching_thread(search->model,
					  search->model->devices.row[trace->device].process);
	for (uint32_t i = 0; i < trace->count; i++) {
		const struct device_step_row *row = &trace->rows[i];

		if (!row->first && !add_step(search, row->number, row->start_ns, row->end_ns))
			return -ENOMEM;
	}
	return 0;
}

static int add_loop(struct search *search, const struct host_loops *loops)
{
	const struct host_loop *loop = &loops->loops.row[loops->main];

	search->thread = loop->thread == INDEX_NONE ? launching_thread(search->model, loop->process)
						    : loop->thread;
	for (uint32_t i = 0; i < loop->count; i++) {
		const struct host_turn *turn = &loops->turns.row[loop->first + i];

		if (!analysis_has(turn->start_ns, search->window))
			continue;
		if (!add_step(search, turn->number, turn->start_ns, turn->end_ns))
			return -ENOMEM;
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t duration(const struct one_step *step)
{
	return step->end_ns - step->start_ns;
}

/* Finds the median of durations, and the median absolute deviation from it. */
static int find_usual(struct search *search, uint64_t *median_ns, uint64_t *deviation_ns)
{
	uint32_t count = search->steps.count;
	uint64_t *values = malloc(((size_t)count + 1) * sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		values[i] = duration(&search->steps.row[i]);
	qsort(values, count, sizeof(*values), by_number);
	*median_ns = values[(count - 1) / 2];
	for (uint32_t i = 0; i < count; i++)
		values[i] = values[i] > *median_ns ? values[i] - *median_ns
						   : *median_ns - values[i];
	qsort(values, count, sizeof(*values), by_number);
	*deviation_ns = values[(count - 1) / 2];
	free(values);
	return 0;
}

/* Adds an outlier: the longest ones are kept, longest first. */
static void keep(struct step_outliers *outliers, const struct one_step *step)
{
	struct step_outlier new = { .number = step->number,
				    .start_ns = step->start_ns,
				    .duration_ns = duration(step),
				    .root = INDEX_NONE };
	uint32_t at = outliers->count;

	outliers->found++;
	while (at && outliers->row[at - 1].duration_ns < new.duration_ns) {
		if (at < OUTLIERS_MAX)
			outliers->row[at] = outliers->row[at - 1];
		at--;
	}
	if (at < OUTLIERS_MAX)
		outliers->row[at] = new;
	if (outliers->count < OUTLIERS_MAX)
		outliers->count++;
}

static int choose(struct search *search)
{
	struct step_outliers *outliers = search->outliers;
	uint64_t median_ns, deviation_ns;
	int err;

	outliers->steps = search->steps.count;
	if (search->steps.count < OUTLIER_STEPS_MIN)
		return 0;
	err = find_usual(search, &median_ns, &deviation_ns);
	if (err)
		return err;
	outliers->median_ns = median_ns;
	for (uint32_t i = 0; i < search->steps.count; i++) {
		struct one_step *step = &search->steps.row[i];
		uint64_t ns = duration(step);

		step->is_outlier = ns > median_ns + median_ns / 2 &&
				   ns - median_ns > OUTLIER_DEVIATIONS * deviation_ns;
		if (step->is_outlier)
			keep(outliers, step);
	}
	return 0;
}

/* ---- The difference of a step */

static int walk(struct search *search, struct root_sums *sums, uint64_t from_ns, uint64_t to_ns)
{
	return root_sums_add_thread(sums, NULL, search->thread, from_ns, to_ns);
}

static int walk_usual(struct search *search)
{
	struct root_sums *sums = root_sums_new(search->model, &search->tools, 0, 0);
	uint32_t others = search->steps.count - search->outliers->found, seen = 0;
	int err = sums ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < search->steps.count && !err; i++) {
		const struct one_step *step = &search->steps.row[i];

		/* Evenly spread. */
		if (step->is_outlier || (uint64_t)seen++ * OUTLIER_USUAL / others <
						search->usual_steps)
			continue;
		err = walk(search, sums, step->start_ns, step->end_ns);
		search->usual_steps++;
	}
	if (!err)
		err = root_sums_finish(sums, &search->usual);
	root_sums_free(sums);
	return err;
}

static bool same_thread(const struct model *model, uint32_t a, uint32_t b)
{
	const struct thread *x, *y;

	if (a == b || a >= model->threads.count || b >= model->threads.count)
		return a == b;
	x = &model->threads.row[a];
	y = &model->threads.row[b];
	return x->process == y->process && x->name == y->name;
}

/* Is it the same cause and who? Threads of one name and process are not distinguished. */
static bool same_party(const struct model *model, const struct root *a, const struct root *b)
{
	if (a->cause != b->cause || a->who_kind != b->who_kind)
		return false;
	return a->who_kind == WHO_THREAD ? same_thread(model, a->who, b->who) : a->who == b->who;
}

static uint64_t sum_of(const struct model *model, const struct idle_roots *roots,
		       const struct root *party)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < roots->count; i++)
		if (same_party(model, &roots->row[i].root, party))
			ns += roots->row[i].ns;
	return ns;
}

static void compare(const struct search *search, struct step_outlier *outlier)
{
	uint64_t least_ns = (outlier->duration_ns - search->outliers->median_ns) / 4;

	for (uint32_t i = 0; i < outlier->roots.count; i++) {
		const struct root *root = &outlier->roots.row[i].root;
		uint64_t ns = sum_of(search->model, &outlier->roots, root);
		uint64_t usual_ns =
			sum_of(search->model, &search->usual, root) / search->usual_steps;

		if (ns <= usual_ns || ns - usual_ns < least_ns ||
		    (outlier->root != INDEX_NONE && ns - usual_ns <= outlier->ns - outlier->usual_ns))
			continue;
		outlier->root = i;
		outlier->ns = ns;
		outlier->usual_ns = usual_ns;
	}
}

static int explain(struct search *search)
{
	int err = walk_usual(search);

	for (uint32_t i = 0; i < search->outliers->count && !err; i++) {
		struct step_outlier *outlier = &search->outliers->row[i];
		struct root_sums *sums = root_sums_new(search->model, &search->tools, 0, 0);

		err = sums ? walk(search, sums, outlier->start_ns,
				  outlier->start_ns + outlier->duration_ns)
			   : -ENOMEM;
		if (!err)
			err = root_sums_finish(sums, &outlier->roots);
		root_sums_free(sums);
		if (!err)
			compare(search, outlier);
	}
	return err;
}

static int collect(struct search *search, const struct step_results *trainer,
		   const struct device_step_results *device)
{
	if (trainer && trainer->main != INDEX_NONE)
		return add_trainer(search, &trainer->pipelines[trainer->main]);
	if (device && device->main != INDEX_NONE)
		return add_device(search, &device->traces[device->main]);
	if (device && device->loops.main != INDEX_NONE)
		return add_loop(search, &device->loops);
	return 0;
}

int step_outliers_find(const struct model *model, const struct analysis_options *options,
		       const struct step_results *trainer, const struct device_step_results *device,
		       struct step_outliers *outliers)
{
	const struct analysis_window window = analysis_window(model, options);
	struct search search = {
		.model = model, .window = &window, .outliers = outliers, .thread = INDEX_NONE
	};
	int err;

	*outliers = (struct step_outliers){ 0 };
	err = collect(&search, trainer, device);
	if (!err)
		err = choose(&search);
	if (!err && outliers->count && model->spans.count &&
	    search.thread < model->timelines.count) {
		search.tools.walker = walker_new(model);
		search.tools.syscalls = syscall_table_new(model_text(model, model->info.arch));
		if (search.tools.syscalls)
			search.tools.waits = waits_new(model, search.tools.syscalls);
		err = search.tools.walker && search.tools.waits ? explain(&search) : -ENOMEM;
		waits_free(search.tools.waits);
		walker_free(search.tools.walker);
		syscall_table_free(search.tools.syscalls);
	}
	idle_roots_free(&search.usual);
	free(search.steps.row);
	return err;
}

void step_outliers_free(struct step_outliers *outliers)
{
	for (uint32_t i = 0; i < outliers->count; i++)
		idle_roots_free(&outliers->row[i].roots);
	*outliers = (struct step_outliers){ 0 };
}
