/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which devices are compared as the ranks of one job. */
#include <sys/param.h>

#include "analyzer/analyse/cluster/cluster.h"
#include "analyzer/analyse/cluster/rank_jobs.h"
#include "analyzer/analyse/host/process_job.h"

/* Returns the device's row among those with common collectives, or NULL. */
static const struct rank_usage *usage_of(const struct communication_results *from, uint32_t device)
{
	for (uint32_t i = 0; i < from->rank_count; i++)
		if (from->ranks[i].device == device)
			return &from->ranks[i];
	return NULL;
}

/* Are two devices ranks of one job, as far as they tell? */
static bool are_together(const struct model *model, const struct communication_results *from,
			 uint32_t a, uint32_t b)
{
	const struct device *x = &model->devices.row[a], *y = &model->devices.row[b];
	const struct rank_usage *of_a = usage_of(from, a), *of_b = usage_of(from, b);
	bool recorded = rank_jobs_is_recorded(model, a);

	if ((x->has_rank && y->has_rank) || (of_a && of_b && of_a->job == of_b->job))
		return true;
	if (recorded != rank_jobs_is_recorded(model, b))
		return false;
	if (!recorded || x->process == y->process)
		return true;
	return !(of_a && of_b) && process_job(model, x->process) == process_job(model, y->process);
}

static void unite(struct cluster_results *results, uint32_t x, uint32_t y)
{
	uint32_t from = MAX(x, y), to = MIN(x, y);

	for (uint32_t i = 0; i < results->count; i++)
		if (results->ranks[i].job == from)
			results->ranks[i].job = to;
}

/* Are all ranks of traced processes of one job? */
static bool is_one_job(const struct model *model, const struct cluster_results *results)
{
	uint32_t job = INDEX_NONE;

	for (uint32_t i = 0; i < results->count; i++) {
		if (!rank_jobs_is_recorded(model, results->ranks[i].device))
			continue;
		if (job != INDEX_NONE && results->ranks[i].job != job)
			return false;
		job = results->ranks[i].job;
	}
	return true;
}

static bool is_alone(const struct cluster_results *results, const struct cluster_rank *rank)
{
	for (uint32_t i = 0; i < results->count; i++)
		if (results->ranks[i].job == rank->job && results->ranks[i].device != rank->device)
			return false;
	return true;
}

void cluster_jobs(const struct model *model, const struct communication_results *collectives,
		  struct cluster_results *results)
{
	struct cluster_rank *ranks = results->ranks;
	uint32_t kept = 0;
	bool one;

	for (uint32_t i = 0; i < results->count; i++) {
		ranks[i].job = ranks[i].device;
		for (uint32_t k = 0; k < i; k++)
			if (ranks[k].job != ranks[i].job &&
			    are_together(model, collectives, ranks[k].device, ranks[i].device))
				unite(results, ranks[i].job, ranks[k].job);
	}
	one = is_one_job(model, results);
	for (uint32_t i = 0; i < results->count && one; i++)
		ranks[i].job = ranks[0].job;
	for (uint32_t i = 0; i < results->count; i++) {
		ranks[i].alone = is_alone(results, &ranks[i]);
		results->links_apart |= ranks[i].job != ranks[0].job;
	}
	for (uint32_t i = 0; i < results->count; i++) {
		if (ranks[i].alone)
			continue;
		ranks[kept++] = ranks[i];
		results->several_jobs |= ranks[kept - 1].job != ranks[0].job;
	}
	results->count = kept;
}
