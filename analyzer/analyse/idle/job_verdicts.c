/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/job_verdicts.h"

#include <errno.h>
#include <stdlib.h>

#define JUDGED_MAX (8 * JOB_VERDICTS_MAX) /* limited because each verdict reads all calls */
#define GENERATIONS_MAX 64 /* of processes: parents in a damaged file may form a circle */

/* Of a job that is judged by its threads' waits, beside others with devices. */
static const struct device_results NO_DEVICES;

struct search {
	struct model *model;
	const struct analysis_options *options;
	const struct verdict_facts *facts;
	struct idle_tools tools; /* made for the first job that is judged by its threads' waits */
	struct idle_splitter *splitter; /* made for the first job that is judged by its devices */
	bool by_devices; /* tasks of devices were recorded */
	uint32_t *parent; /* by process; INDEX_NONE: its parent was not traced, or it was not itself */
	bool *head; /* by process */
	bool *above; /* by process: it is the head of a job, or an ancestor of one */
	uint32_t *pids; /* of the current job */
	uint32_t only; /* head of the one job with all threads of the overall verdict, or INDEX_NONE */
};

static bool is_target(const struct search *search, uint32_t process)
{
	return search->model->processes.row[process].target &&
	       analysis_wants_process(search->model, search->options, process);
}

static void find_parents(struct search *search)
{
	const struct model *model = search->model;

	for (uint32_t p = 0; p < model->processes.count; p++) {
		uint32_t parent = is_target(search, p) ? model_parent(model, p) : INDEX_NONE;

		if (parent != INDEX_NONE && is_target(search, parent))
			search->parent[p] = parent;
	}
}

/* Returns the head of a process's job; INDEX_NONE: it is in no job. */
static uint32_t head_of(const struct search *search, uint32_t process)
{
	for (int i = 0; process != INDEX_NONE && i < GENERATIONS_MAX; i++) {
		if (search->head[process])
			return process;
		process = search->parent[process];
	}
	return INDEX_NONE;
}

static void add_head(struct search *search, uint32_t thread)
{
	const struct model *model = search->model;

	if (thread < model->threads.count && model->threads.row[thread].process < model->processes.count)
		search->head[model->threads.row[thread].process] = true;
}

static bool has_tasks(const struct search *search, uint32_t device)
{
	const struct device_results *devices = search->facts->devices;

	return devices->devices && devices->devices[device].window_ns;
}

/* Adds the processes of devices with tasks. Returns false if one is not known: its job is not known either. */
static bool add_devices(struct search *search)
{
	const struct model *model = search->model;

	for (uint32_t i = 0; i < search->facts->devices->device_count; i++) {
		uint32_t process = model->devices.row[i].process;

		if (!has_tasks(search, i))
			continue;
		if (process >= model->processes.count || !is_target(search, process))
			return false;
		search->head[process] = true;
	}
	return true;
}

/* Adds the processes that submit work to devices. */
static int add_submitting(struct search *search)
{
	const struct model *model = search->model;
	bool *submit = host_waits_submit(model);

	for (uint32_t t = 0; submit && t < model->threads.count; t++)
		if (submit[t] && model->threads.row[t].target &&
		    is_target(search, model->threads.row[t].process))
			add_head(search, t);
	free(submit);
	return submit ? 0 : -ENOMEM;
}

static void find_above(struct search *search)
{
	for (uint32_t p = 0; p < search->model->processes.count; p++) {
		uint32_t at = search->head[p] ? p : INDEX_NONE;

		for (int i = 0; at != INDEX_NONE && i < GENERATIONS_MAX; i++) {
			search->above[at] = true;
			at = search->parent[at];
		}
	}
}

/* Adds the processes of the threads that were chosen because no device's tasks were recorded. */
static void add_waiting(struct search *search)
{
	const struct host_waits *waits = search->facts->waits;
	const struct step_results *steps = search->facts->steps;

	for (uint32_t i = 0; i < waits->thread_count && waits->why != WAITS_OF_BUSIEST; i++)
		add_head(search, waits->threads[i]);
	for (uint32_t i = 0; i < steps->count && waits->why == WAITS_OF_FETCHES; i++)
		if (steps->pipelines[i].judged)
			add_head(search, steps->pipelines[i].usage->fetch.thread);
}

static void add_others(struct search *search)
{
	const struct model *model = search->model;

	find_above(search);
	for (uint32_t p = 0; p < model->processes.count && !model->info.system_wide; p++)
		if (is_target(search, p) && search->parent[p] == INDEX_NONE && !search->above[p])
			search->head[p] = true;
}

/* Finds the heads of the jobs. Returns the number of them, 0 if a device's job is not known, or -ENOMEM. */
static int find_heads(struct search *search)
{
	int heads = 0, err = 0;

	if (!search->by_devices)
		add_waiting(search);
	else if (add_devices(search))
		err = add_submitting(search);
	else
		return 0;
	if (err)
		return err;
	add_others(search);
	for (uint32_t p = 0; p < search->model->processes.count; p++)
		heads += search->head[p];
	return heads;
}

/* Selects the job's steps among the pipelines from which a process of it fetches. */
static struct step_results steps_of(const struct search *search, uint32_t head)
{
	const struct model *model = search->model;
	struct step_results steps = *search->facts->steps;

	steps.main = INDEX_NONE;
	for (uint32_t i = 0; i < steps.count; i++) {
		uint32_t thread = steps.pipelines[i].usage->fetch.thread;

		if (thread < model->threads.count &&
		    model->threads.row[thread].process < model->processes.count &&
		    head_of(search, model->threads.row[thread].process) == head &&
		    steps_precede(&steps.pipelines[i], steps.main == INDEX_NONE ? NULL : &steps.pipelines[steps.main]))
			steps.main = i;
	}
	return steps;
}

static int find_verdict(const struct search *search, struct job_verdict *job)
{
	struct verdict_facts facts = *search->facts;

	facts.steps = &job->steps;
	if (job->devices.devices) {
		facts.devices = &job->devices;
		facts.all_devices = search->facts->devices;
	} else {
		facts.devices = &NO_DEVICES;
		facts.waits = &job->waits;
	}
	return verdict_find(search->model, &facts, &job->verdict);
}

static void free_job(struct job_verdict *job)
{
	host_waits_free(&job->waits);
	device_results_keep_join(&job->devices);
}

static bool is_judged(const struct job_verdict *job)
{
	return job->devices.devices || job->waits.window_ns;
}

static bool has_devices(const struct search *search, uint32_t head)
{
	for (uint32_t i = 0; i < search->facts->devices->device_count; i++)
		if (has_tasks(search, i) &&
		    head_of(search, search->model->devices.row[i].process) == head)
			return true;
	return false;
}

/* Finds the roots of the idle time of the job's devices. */
static int find_roots(struct search *search, struct device_results *devices)
{
	uint64_t count = 0;
	struct device_gap *gaps;
	int err = -ENOMEM;

	for (uint32_t i = 0; i < devices->device_count; i++) {
		count += devices->devices[i].gap_count;
		devices->idle.total_ns += devices->devices[i].idle_ns;
	}
	if (!search->splitter)
		search->splitter = idle_splitter_new(search->model);
	gaps = calloc(count + 1, sizeof(*gaps));
	devices->idle.roots = calloc(1, sizeof(*devices->idle.roots));
	if (!search->splitter || !gaps || !devices->idle.roots)
		goto cleanup;
	devices->idle.gaps_total = count;
	count = 0;
	for (uint32_t i = 0; i < devices->device_count; i++)
		for (uint32_t gap = 0; gap < devices->devices[i].gap_count; gap++)
			gaps[count++] = devices->devices[i].gaps[gap];
	err = idle_split_roots(search->splitter, gaps, count, devices->idle.roots);
cleanup:
	free(gaps);
	return err;
}

static bool is_of_job(const struct search *search, uint32_t head, const struct rank_usage *rank)
{
	return head_of(search, search->model->devices.row[rank->device].process) == head;
}

/* Does the job have a rank of the same distributed job (rank_jobs.h) as this one? */
static bool is_with_job(const struct search *search, uint32_t head, const struct rank_usage *rank)
{
	const struct communication_results *all = &search->facts->devices->communication;

	for (uint32_t i = 0; i < all->rank_count; i++)
		if (all->ranks[i].job == rank->job && is_of_job(search, head, &all->ranks[i]))
			return true;
	return false;
}

/*
 * The ranks for which the job's devices wait may be other jobs of this file: includes them, without their own waits,
 * except those of other distributed jobs. A job's only rank does not wait for itself: that it was late itself is left out.
 */
static int add_ranks(const struct search *search, uint32_t head, struct communication_results *own)
{
	const struct communication_results *all = &search->facts->devices->communication;
	uint32_t of_job = 0;

	if (!all->rank_count)
		return 0;
	free(own->ranks);
	own->rank_count = 0;
	own->ranks = calloc(all->rank_count, sizeof(*own->ranks));
	if (!own->ranks)
		return -ENOMEM;
	for (uint32_t i = 0; i < all->rank_count; i++)
		of_job += is_of_job(search, head, &all->ranks[i]);
	for (uint32_t i = 0; i < all->rank_count; i++) {
		struct rank_usage *rank = &own->ranks[own->rank_count];

		if (!is_with_job(search, head, &all->ranks[i]))
			continue;
		own->rank_count++;
		*rank = all->ranks[i];
		if (!is_of_job(search, head, rank))
			rank->wait_ns = 0;
		else if (of_job == 1)
			rank->late_ns = 0;
	}
	return 0;
}

static int look_at_devices(struct search *search, uint32_t head,
			   const struct analysis_options *options, struct job_verdict *job)
{
	const struct device_results *all = search->facts->devices;
	int err;

	job->devices = (struct device_results){ .device_count = all->device_count,
						.clocks = all->clocks,
						.launches = all->launches };
	err = device_results_analyse(search->model, options, &job->devices);
	if (!err)
		err = find_roots(search, &job->devices);
	return err ? err : add_ranks(search, head, &job->devices.communication);
}

static int look_at_threads(struct search *search, const struct analysis_options *options,
			   struct job_verdict *job)
{
	if (!search->tools.walker && !host_waits_tools(search->model, &search->tools))
		return -ENOMEM;
	return host_waits_with(search->model, &search->tools, options, &job->steps, &job->waits);
}

/* Judges a job; if is_judged() says false afterwards, there is no verdict. */
static int judge(struct search *search, uint32_t head, struct job_verdict *job)
{
	const struct model *model = search->model;
	struct analysis_options options = *search->options;
	int err;

	options.pids = search->pids;
	options.pid_count = 0;
	for (uint32_t p = 0; p < model->processes.count; p++)
		if (is_target(search, p) && head_of(search, p) == head)
			search->pids[options.pid_count++] = model->processes.row[p].pid;
	*job = (struct job_verdict){ .process = head };
	job->steps = steps_of(search, head);
	err = has_devices(search, head) ? look_at_devices(search, head, &options, job)
					: look_at_threads(search, &options, job);
	if (err || job->waits.away || !is_judged(job)) {
		free_job(job);
		return err;
	}
	err = find_verdict(search, job);
	if (err)
		free_job(job);
	return err;
}

/* Sort key: jobs that are held up come first, then unknown ones, those whose device is busy, healthy ones last. */
static double weight(const struct verdict *verdict)
{
	if (verdict->state == VERDICT_HEALTHY)
		return -3;
	if (verdict->busy)
		return -2;
	return verdict->state == VERDICT_UNKNOWN || !verdict->has_percent ? -1 : verdict->percent;
}

static int by_weight(const void *a, const void *b)
{
	const struct job_verdict *x = a, *y = b;
	double p = weight(&x->verdict), q = weight(&y->verdict);

	if (p != q)
		return p > q ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

/* Adds a job; if there are too many, drops the one that loses least, except the job of the overall verdict. */
static void add_job(const struct search *search, struct job_verdicts *jobs, struct job_verdict *job)
{
	struct job_verdict *least = job, lighter;

	if (jobs->count < JOB_VERDICTS_MAX) {
		jobs->row[jobs->count++] = *job;
		return;
	}
	for (uint32_t i = 0; i < jobs->count; i++)
		if (least->process == search->only || (jobs->row[i].process != search->only &&
						       by_weight(&jobs->row[i], least) > 0))
			least = &jobs->row[i];
	lighter = *least;
	*least = *job;
	free_job(&lighter);
	jobs->less++;
}

/* Verdicts point into their rows, which sorting moves: each is found again. */
static int sort_jobs(const struct search *search, struct job_verdicts *jobs)
{
	int err = 0;

	qsort(jobs->row, jobs->count, sizeof(*jobs->row), by_weight);
	for (uint32_t i = 0; i < jobs->count && !err; i++)
		err = find_verdict(search, &jobs->row[i]);
	return err;
}

/* Returns the head of the job that has all devices with tasks; INDEX_NONE: several have. */
static uint32_t head_of_devices(const struct search *search)
{
	uint32_t only = INDEX_NONE;

	for (uint32_t i = 0; i < search->facts->devices->device_count; i++) {
		uint32_t head = has_tasks(search, i)
					? head_of(search, search->model->devices.row[i].process)
					: only;

		if (only != INDEX_NONE && head != only)
			return INDEX_NONE;
		only = head;
	}
	return only;
}

/* Returns the head of the job that the overall verdict is about; INDEX_NONE: it is about several jobs. */
static uint32_t only_head(const struct search *search)
{
	const struct host_waits *waits = search->facts->waits;
	const struct model *model = search->model;
	uint32_t only = INDEX_NONE;

	if (search->by_devices)
		return head_of_devices(search);
	for (uint32_t i = 0; i < waits->thread_count; i++) {
		uint32_t head = head_of(search, model->threads.row[waits->threads[i]].process);

		if (i > 0 && head != only)
			return INDEX_NONE;
		only = head;
	}
	return only;
}

static int judge_heads(struct search *search, struct job_verdicts *jobs)
{
	uint32_t judged = 0;
	int err = 0;

	for (uint32_t p = 0; p < search->model->processes.count && !err; p++) {
		struct job_verdict job;

		if (!search->head[p])
			continue;
		if (p != search->only && judged++ >= JUDGED_MAX) {
			jobs->more++;
			continue;
		}
		err = judge(search, p, &job);
		if (!err && is_judged(&job))
			add_job(search, jobs, &job);
	}
	return err;
}

static int find(struct search *search, struct job_verdicts *jobs)
{
	int err, heads;

	find_parents(search);
	heads = find_heads(search);
	if (heads < 2)
		return heads < 0 ? heads : 0;
	search->only = only_head(search);
	err = judge_heads(search, jobs);
	if (!err)
		err = sort_jobs(search, jobs);
	for (uint32_t i = 0; i < jobs->count && !err; i++)
		if (jobs->row[i].process == search->only)
			jobs->only = i;
	return err;
}

int job_verdicts_find(struct model *model, const struct analysis_options *options,
		      const struct verdict_facts *facts, struct job_verdicts *jobs)
{
	struct search search = { .model = model, .options = options, .facts = facts };
	int err = -ENOMEM;

	*jobs = (struct job_verdicts){ .only = INDEX_NONE };
	/* Devices of device files alone are the ranks of one job. */
	if (!model->files.count || (facts->waits && facts->waits->why == WAITS_OF_ASKED))
		return 0;
	for (uint32_t i = 0; i < facts->devices->device_count; i++)
		search.by_devices |= has_tasks(&search, i);
	if (!search.by_devices && (!facts->waits || !facts->waits->thread_count))
		return 0;
	search.parent = indices_none(model->processes.count);
	search.head = calloc((size_t)model->processes.count + 1, sizeof(*search.head));
	search.above = calloc((size_t)model->processes.count + 1, sizeof(*search.above));
	search.pids = calloc((size_t)model->processes.count + 1, sizeof(*search.pids));
	jobs->row = calloc(JOB_VERDICTS_MAX, sizeof(*jobs->row));
	if (search.parent && search.head && search.above && search.pids && jobs->row)
		err = find(&search, jobs);
	host_waits_tools_free(&search.tools);
	idle_splitter_free(search.splitter);
	if (!err && jobs->count + jobs->less + jobs->more < 2)
		job_verdicts_free(jobs);
	free(search.parent);
	free(search.head);
	free(search.above);
	free(search.pids);
	return err;
}

void job_verdicts_free(struct job_verdicts *jobs)
{
	for (uint32_t i = 0; i < jobs->count; i++)
		free_job(&jobs->row[i]);
	free(jobs->row);
	*jobs = (struct job_verdicts){ .only = INDEX_NONE };
}
