/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/cluster/cluster.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* MindInsight's thresholds: factors of the mean, and percent. */
#define MORE 1.2
#define LESS 0.8
#define ALONE_PERCENT 10

const char *cluster_rule_name(enum cluster_rule rule)
{
	static const char *const NAMES[CLUSTER_RULES] = { "work",  "computation", "gap",
							  "flops", "bandwidth",	  "receive",
							  "collective" };

	return rule < CLUSTER_RULES ? NAMES[rule] : "";
}

static int add_finding(struct cluster_results *results, struct cluster_finding finding)
{
	if (results->finding_count == results->finding_capacity &&
	    !model_grow((void **)&results->findings, &results->finding_capacity,
			results->finding_count, sizeof(*results->findings)))
		return -ENOMEM;
	results->findings[results->finding_count++] = finding;
	return 0;
}

/* Returns the operations per second of a device's kernels; -1 if not known. */
static double flops_rate(const struct device_results *devices, uint32_t device)
{
	struct operator_figures all = { 0 };
	double rate;

	for (uint32_t i = 0; i < devices->cores.count; i++) {
		const struct operator_usage *row = &devices->cores.rows[i];

		if (row->device != device)
			continue;
		all.flops += row->figures.flops;
		all.counted_ns += row->figures.counted_ns;
	}
	return operator_flops_rate(&all, &rate) ? rate : -1;
}

static void add_steps(struct cluster_rank *rank, const struct device_step_results *steps)
{
	for (uint32_t i = 0; steps && i < steps->count; i++) {
		const struct device_step_means *means = &steps->traces[i].means;

		if (steps->traces[i].device != rank->device || !means->steps)
			continue;
		rank->has_steps = true;
		rank->step_ns = means->duration_ns;
		rank->gap_ns = means->gap_ns;
	}
}

static uint64_t wait_of(const struct communication_results *from, uint32_t device)
{
	for (uint32_t i = 0; i < from->rank_count; i++)
		if (from->ranks[i].device == device)
			return from->ranks[i].wait_ns;
	return 0;
}

static void add_ranks(const struct device_results *devices, const struct device_step_results *steps,
		      struct cluster_results *results)
{
	for (uint32_t i = 0; i < devices->overlap.count; i++) {
		const struct overlap_device *device = &devices->overlap.devices[i];
		struct cluster_rank rank = {
			.device = device->all.device,
			.stage_ns = device->stage_ns,
			.parts = { .work_ns = device->stage_ns - device->all.receive_ns,
				   .computation_ns = device->all.computation_ns,
				   .receive_ns = device->all.receive_ns,
				   .collective_ns = device->all.pure_communication_ns -
						    device->all.receive_ns,
				   .free_ns = device->all.free_ns },
			.flops_rate = flops_rate(devices, device->all.device),
		};

		if (!device->stage_ns)
			continue;
		rank.wait_ns = wait_of(&devices->communication, rank.device);
		if (rank.wait_ns > rank.parts.collective_ns)
			rank.wait_ns = rank.parts.collective_ns;
		add_steps(&rank, steps);
		results->ranks[results->count++] = rank;
	}
}

/* Returns the mean of the known values; UINT64_MAX = none is known. */
static uint64_t mean_of(const struct cluster_step *steps, uint32_t count, size_t member)
{
	uint64_t sum = 0, known = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t value = *(const uint64_t *)((const char *)&steps[i] + member);

		if (value == UINT64_MAX || value > UINT64_MAX / 2 - sum)
			continue;
		sum += value;
		known++;
	}
	return known ? sum / known : UINT64_MAX;
}

#define MEAN(steps, count, member) mean_of(steps, count, offsetof(struct cluster_step, member))

/* Returns MindSpore's own mean of operations per second; -1 if not known. */
static double told_flops(const struct model *model, uint32_t device)
{
	double rate = -1;

	for (uint32_t i = 0; i < model->device_facts.count; i++) {
		const struct device_fact *fact = &model->device_facts.row[i];

		if (rate < 0 && fact->device == device && !fact->text &&
		    strcmp(model_text(model, fact->unit), "operations/s") == 0)
			rate = fact->value;
	}
	return rate;
}

/* Adds a rank by a file's steps of its device: @steps. */
static void add_told(const struct model *model, const struct cluster_step *steps, uint32_t count,
		     const struct device_step_results *traces, struct cluster_results *results)
{
	const struct cluster_step *from = count > 1 ? steps + 1 : steps;
	uint32_t used = count > 1 ? count - 1 : count;
	uint64_t computation = MEAN(from, used, computation_ns);
	uint64_t communication = MEAN(from, used, communication_ns);
	uint64_t receive = MEAN(from, used, receive_ns);
	uint64_t collective = MEAN(from, used, collective_ns);
	uint64_t work = MEAN(from, used, stage_ns), gap = MEAN(from, used, gap_ns);
	struct cluster_rank rank = { .device = steps->device,
				     .parts.free_ns = UINT64_MAX,
				     .flops_rate = told_flops(model, steps->device),
				     .told = true };

	/* Files of data-parallel jobs have the times of steps, but not their parts. */
	if (computation == UINT64_MAX || communication == UINT64_MAX)
		return;
	rank.parts.computation_ns = computation;
	rank.stage_ns = computation + communication;
	rank.parts.receive_ns = receive == UINT64_MAX ? 0 : receive;
	rank.parts.collective_ns = collective == UINT64_MAX ? communication : collective;
	rank.parts.work_ns = work == UINT64_MAX ? rank.stage_ns : work;
	add_steps(&rank, traces);
	if (!rank.has_steps && gap != UINT64_MAX) {
		rank.has_steps = true;
		rank.step_ns = (double)rank.stage_ns;
		rank.gap_ns = (double)gap;
	}
	results->ranks[results->count++] = rank;
}

static bool has_rank(const struct cluster_results *results, uint32_t device)
{
	for (uint32_t i = 0; i < results->count; i++) {
		if (results->ranks[i].device == device)
			return true;
	}
	return false;
}

/* A recording and means of steps cannot be compared: means are used only if no rank has tasks. */
static void add_told_ranks(const struct model *model, const struct device_step_results *traces,
			   struct cluster_results *results)
{
	uint32_t end;

	if (results->count)
		return;
	for (uint32_t i = 0; i < model->cluster_steps.count; i = end) {
		const struct cluster_step *first = &model->cluster_steps.row[i];

		for (end = i + 1; end < model->cluster_steps.count &&
				  model->cluster_steps.row[end].device == first->device &&
				  model->cluster_steps.row[end].number > first->number;)
			end++;
		if (!has_rank(results, first->device))
			add_told(model, first, end - i, traces, results);
	}
}

static uint64_t work_of(const struct cluster_results *results, uint32_t rank)
{
	return results->ranks[rank].parts.work_ns;
}

/* Returns the work without waits for ranks that came later to collectives. */
static uint64_t own_work_of(const struct cluster_results *results, uint32_t rank)
{
	uint64_t work_ns = work_of(results, rank), wait_ns = results->ranks[rank].wait_ns;

	return work_ns > wait_ns ? work_ns - wait_ns : 0;
}

static bool same_job(const struct cluster_results *results, uint32_t x, uint32_t y)
{
	return results->ranks[x].job == results->ranks[y].job;
}

/* Returns the mean of a figure over the ranks of the same job; they are more than one. */
static double job_mean(const struct cluster_results *results, uint32_t rank,
		       uint64_t (*figure)(const struct cluster_results *, uint32_t))
{
	double sum = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < results->count; i++) {
		if (!same_job(results, i, rank))
			continue;
		sum += (double)figure(results, i);
		count++;
	}
	return sum / count;
}

static void compare_work(struct cluster_results *results)
{
	double own = job_mean(results, 0, own_work_of);

	for (uint32_t i = 0; i < results->count; i++) {
		double mean = job_mean(results, i, work_of), mean_own = job_mean(results, i, own_work_of);

		results->ranks[i].parts.work_percent =
			mean > 0 ? 100 * (double)work_of(results, i) / mean : 0;
		if ((double)own_work_of(results, i) - mean_own <=
		    (double)own_work_of(results, results->slowest) - own)
			continue;
		results->slowest = i;
		own = mean_own;
	}
	results->mean_work_ns = (uint64_t)job_mean(results, results->slowest, work_of);
	results->mean_own_ns = (uint64_t)own;
	results->imbalance =
		own > 0 ? 100 * (double)own_work_of(results, results->slowest) / own - 100 : 0;
}

static struct cluster_stage *stage_of(struct cluster_results *results, uint32_t stage)
{
	uint32_t at = 0;

	while (at < results->stage_count && results->stages[at].stage < stage)
		at++;
	if (at < results->stage_count && results->stages[at].stage == stage)
		return &results->stages[at];
	memmove(&results->stages[at + 1], &results->stages[at],
		(results->stage_count - at) * sizeof(*results->stages));
	results->stages[at] = (struct cluster_stage){ .stage = stage };
	results->stage_count++;
	return &results->stages[at];
}

static void add_parts(struct cluster_parts *sum, const struct cluster_parts *row)
{
	sum->work_ns += row->work_ns;
	sum->computation_ns += row->computation_ns;
	sum->receive_ns += row->receive_ns;
	sum->collective_ns += row->collective_ns;
	if (sum->free_ns == UINT64_MAX || row->free_ns == UINT64_MAX)
		sum->free_ns = UINT64_MAX;
	else
		sum->free_ns += row->free_ns;
}

static void divide_parts(struct cluster_parts *sum, uint32_t count)
{
	sum->work_ns /= count;
	sum->computation_ns /= count;
	sum->receive_ns /= count;
	sum->collective_ns /= count;
	if (sum->free_ns != UINT64_MAX)
		sum->free_ns /= count;
}

static void add_to_stage(struct cluster_results *results, uint32_t rank, uint32_t stage)
{
	struct cluster_stage *sum = stage_of(results, stage);

	if (!sum->ranks || own_work_of(results, rank) > own_work_of(results, sum->slowest))
		sum->slowest = rank;
	sum->ranks++;
	add_parts(&sum->parts, &results->ranks[rank].parts);
}

static void compare_stages(struct cluster_results *results)
{
	double mean = 0;

	for (uint32_t i = 0; i < results->stage_count; i++) {
		struct cluster_stage *stage = &results->stages[i];
		double work = (double)stage->parts.work_ns / stage->ranks;

		stage->imbalance =
			work > 0 ? 100 * (double)work_of(results, stage->slowest) / work - 100 : 0;
		divide_parts(&stage->parts, stage->ranks);
		stage->parts.work_percent = 100 * work;
		mean += work / results->stage_count;
		if (100 * work > results->stages[results->slowest_stage].parts.work_percent)
			results->slowest_stage = i;
	}
	for (uint32_t i = 0; i < results->stage_count; i++) {
		struct cluster_parts *parts = &results->stages[i].parts;

		parts->work_percent = mean > 0 ? parts->work_percent / mean : 0;
	}
}

/* Only of one job, if the stage of each rank is known, and the number of stages agrees: else means would miss ranks. */
static int find_stages(const struct model *model, struct cluster_results *results)
{
	uint32_t stages = model->devices.row[results->ranks[0].device].stages;

	for (uint32_t i = 0; i < results->count; i++) {
		if (results->several_jobs || !stages || model->devices.row[results->ranks[i].device].stages != stages)
			return 0;
	}
	results->stages = calloc((size_t)results->count + 1, sizeof(*results->stages));
	if (!results->stages)
		return -ENOMEM;
	for (uint32_t i = 0; i < results->count; i++)
		add_to_stage(results, i, model->devices.row[results->ranks[i].device].stage);
	compare_stages(results);
	return 0;
}

/* Returns the value that a rule compares; negative = unknown. */
static double value_of(const struct cluster_rank *rank, enum cluster_rule rule)
{
	switch (rule) {
	case CLUSTER_WORK: return (double)rank->parts.work_ns;
	case CLUSTER_COMPUTATION: return (double)rank->parts.computation_ns;
	case CLUSTER_GAP: return rank->has_steps ? rank->gap_ns : -1;
	default: return rank->flops_rate;
	}
}

/* Returns the mean of the known values of the ranks of one job; negative: fewer than two are known. */
static double mean_value(const struct cluster_results *results, uint32_t rank, enum cluster_rule rule)
{
	double mean = 0;
	uint32_t known = 0;

	for (uint32_t i = 0; i < results->count; i++) {
		double value = value_of(&results->ranks[i], rule);

		if (value >= 0 && same_job(results, i, rank)) {
			mean += value;
			known++;
		}
	}
	return known < 2 ? -1 : mean / known;
}

static int judge_means(struct cluster_results *results, enum cluster_rule rule, double limit)
{
	int err = 0;

	for (uint32_t i = 0; i < results->count && !err; i++) {
		double value = value_of(&results->ranks[i], rule), mean = mean_value(results, i, rule);

		if (value >= 0 && mean > 0 && (limit > 1 ? value > mean * limit : value < mean * limit))
			err = add_finding(results,
					  (struct cluster_finding){ .rule = rule,
								    .device = results->ranks[i].device,
								    .value = value,
								    .mean = mean });
	}
	return err;
}

static double bandwidth_of(const struct link_usage *link)
{
	return link->bytes && link->transit_ns ?
		       (double)link->bytes * 1e9 / (double)link->transit_ns :
		       -1;
}

/*
 * Returns the job of the links of each device: equal for all if there is only one job, and that of a device that is not
 * compared is its own. The caller frees it; NULL without memory.
 */
static uint32_t *jobs_of_links(const struct model *model, const struct cluster_results *results)
{
	uint32_t *jobs = calloc((size_t)model->devices.count + 1, sizeof(*jobs));

	if (!jobs || !results->links_apart)
		return jobs;
	for (uint32_t i = 0; i < model->devices.count; i++)
		jobs[i] = i;
	for (uint32_t i = 0; i < results->count; i++)
		jobs[results->ranks[i].device] = results->ranks[i].job;
	return jobs;
}

/* Compares a link with all links of its transport that its job has. */
static int judge_link(const struct communication_results *from, uint32_t at, const uint32_t *jobs,
		      struct cluster_results *results)
{
	double value = bandwidth_of(&from->links[at]), sum = 0;
	uint32_t known = 0;

	for (uint32_t i = 0; i < from->link_count; i++) {
		if (from->links[i].transport == from->links[at].transport &&
		    bandwidth_of(&from->links[i]) >= 0 &&
		    jobs[from->links[i].device] == jobs[from->links[at].device]) {
			sum += bandwidth_of(&from->links[i]);
			known++;
		}
	}
	if (value < 0 || known < 2 || value >= LESS * sum / known)
		return 0;
	return add_finding(results, (struct cluster_finding){ .rule = CLUSTER_LINK,
							      .device = from->links[at].device,
							      .link = at,
							      .value = value,
							      .mean = sum / known });
}

static int judge_links(const struct model *model, const struct communication_results *from,
		       struct cluster_results *results)
{
	uint32_t *jobs = jobs_of_links(model, results);
	int err = jobs ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < from->link_count && !err; i++)
		err = judge_link(from, i, jobs, results);
	free(jobs);
	return err;
}

static int judge_alone(struct cluster_results *results, enum cluster_rule rule)
{
	int err = 0;

	for (uint32_t i = 0; i < results->count && !err; i++) {
		const struct cluster_rank *rank = &results->ranks[i];
		uint64_t alone_ns = rule == CLUSTER_RECEIVE ? rank->parts.receive_ns :
							      rank->parts.collective_ns - rank->wait_ns;
		uint64_t all_ns = rank->parts.computation_ns + rank->parts.receive_ns + rank->parts.collective_ns;
		double percent = all_ns ? 100 * (double)alone_ns / (double)all_ns : 0;

		if (percent > ALONE_PERCENT)
			err = add_finding(results, (struct cluster_finding){ .rule = rule,
									     .device = rank->device,
									     .value = percent,
									     .mean = ALONE_PERCENT });
	}
	return err;
}

int cluster_analyse(const struct model *model, const struct device_results *devices,
		    const struct device_step_results *steps, struct cluster_results *results)
{
	const struct communication_results *links = &devices->communication;
	int err;

	*results = (struct cluster_results){ 0 };
	results->ranks = calloc((size_t)devices->overlap.count + model->cluster_steps.count + 1,
				sizeof(*results->ranks));
	if (!results->ranks)
		return -ENOMEM;
	add_ranks(devices, steps, results);
	add_told_ranks(model, steps, results);
	cluster_jobs(model, links, results);
	if (results->count < 2) {
		results->count = 0;
		return 0;
	}
	compare_work(results);
	err = find_stages(model, results);
	if (!err)
		err = judge_means(results, CLUSTER_WORK, MORE);
	if (!err)
		err = judge_means(results, CLUSTER_COMPUTATION, MORE);
	if (!err)
		err = judge_means(results, CLUSTER_GAP, MORE);
	if (!err)
		err = judge_means(results, CLUSTER_FLOPS, LESS);
	if (!err)
		err = judge_links(model, links, results);
	if (!err)
		err = judge_alone(results, CLUSTER_RECEIVE);
	return err ? err : judge_alone(results, CLUSTER_COLLECTIVE);
}

void cluster_free(struct cluster_results *results)
{
	free(results->ranks);
	free(results->stages);
	free(results->findings);
	*results = (struct cluster_results){ 0 };
}
