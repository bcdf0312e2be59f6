/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - comparison of the ranks of a job: the rank whose part takes longest, and the cost of that.
 *
 * For each device, by overlap.h: computation, communication that no computation hides, and the part of that which
 * waits to receive from another pipeline stage. A rank's work is its stage without that wait (torch_npu's "Stage",
 * MindInsight's "stage time"): equal in all ranks if the parts of the model are balanced. If files name
 * each rank's stage of a pipeline, ranks are also grouped by stage: differences between stages
 * show how the model is divided, differences within a stage how the batch is.
 *
 * For a device without tasks whose file has such parts of its steps (ascend_cluster_analyse_*) they are
 * means over the steps without the first, unless that is the only one: the stage is a step, idle time is included
 * in the computation, and operations per second come from flops_summary_*.
 *
 * Only ranks of one job are compared; a device that is alone in its job is left out. Stages are compared only if
 * these ranks are of one job. Devices of traced processes belong to one job if their collectives say so (rank_jobs.h), or, unless both have
 * collectives that others have, too, if the same traced process started them. Devices whose ranks are told by files are
 * one job, and so are those of processes that were not traced. If the traced ones are of one job, all are.
 *
 * The slowest rank is the one with most work, without its waits for others in collectives if these are known
 * (communication.h): a rank that waits for the slowest one has as long a stage. These waits are also left out of
 * communication alone.
 *
 * Findings follow MindInsight's rules for clusters, with its thresholds: a rank's mean gap before steps
 * above 1.2 times the ranks' mean, operations per second below 0.8 times the mean, a link's bandwidth below 0.8
 * times the mean of its transport's links, communication alone above a tenth of communication and computation;
 * and work or computation above 1.2 times the mean.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CLUSTER_CLUSTER_H
#define PROFBPF_ANALYZER_ANALYSE_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/model/model.h"

struct cluster_parts {
	uint64_t work_ns; /* stage without receive */
	uint64_t computation_ns;
	uint64_t receive_ns; /* not hidden: waiting for another pipeline stage */
	uint64_t collective_ns; /* other communication that is not hidden */
	uint64_t free_ns; /* UINT64_MAX = unknown */
	double work_percent; /* of the mean of all ranks of the job, itself included */
};

struct cluster_rank {
	uint32_t device; /* index into model->devices */
	uint32_t job; /* the first device of its job */
	bool alone; /* no other rank is of its job: not compared */
	uint64_t stage_ns;
	struct cluster_parts parts;
	bool has_steps;
	double step_ns; /* means */
	double gap_ns;
	double flops_rate; /* operations per second of its kernels; negative = unknown */
	bool told; /* the times are a file's means of steps, not from tasks */
	uint64_t wait_ns; /* part of collective_ns: waits for ranks that came later */
};

/* The ranks of a stage of a pipeline; times are their means. */
struct cluster_stage {
	uint32_t stage;
	uint32_t ranks;
	struct cluster_parts parts;
	uint32_t slowest; /* index into ranks: the rank of the stage with most work */
	double imbalance; /* percent by which its work exceeds the stage's mean */
};

enum cluster_rule {
	CLUSTER_WORK, /* value and mean in ns */
	CLUSTER_COMPUTATION, /* ns */
	CLUSTER_GAP, /* ns */
	CLUSTER_FLOPS, /* operations per second */
	CLUSTER_LINK, /* bytes per second */
	CLUSTER_RECEIVE, /* percent; mean is the threshold */
	CLUSTER_COLLECTIVE, /* the same */
	CLUSTER_RULES
};

struct cluster_finding {
	enum cluster_rule rule;
	uint32_t device;
	uint32_t link; /* CLUSTER_LINK: index into communication.links */
	double value;
	double mean;
};

struct cluster_results {
	struct cluster_rank *ranks; /* by device; none if there are fewer than two of a job */
	uint32_t count;
	bool several_jobs; /* ranks are of several jobs, and compared with those of their own one */
	bool links_apart; /* so are links: also if only ranks that are alone in their job are of others */
	uint32_t slowest; /* index into ranks: farthest above its job's mean, without waits in collectives */
	uint64_t mean_work_ns; /* of the slowest rank's job */
	uint64_t mean_own_ns; /* the same of work without waits in collectives */
	double imbalance; /* percent by which the slowest rank's work exceeds the mean */
	struct cluster_stage *stages; /* by stage; none if the files of a rank do not name its stage */
	uint32_t stage_count;
	uint32_t slowest_stage; /* index into stages */
	struct cluster_finding *findings; /* by rule */
	uint32_t finding_count;
	uint32_t finding_capacity;
};

/*
 * cluster_analyse - fills @results
 *
 * @steps: of devices, or NULL. Returns 0 or -ENOMEM; in both cases the caller calls cluster_free().
 */
int cluster_analyse(const struct model *model, const struct device_results *devices,
		    const struct device_step_results *steps, struct cluster_results *results);
void cluster_free(struct cluster_results *results);

/* The part of cluster_analyse() that sets the job of each rank of @results, and removes those that are alone in it. */
void cluster_jobs(const struct model *model, const struct communication_results *collectives,
		  struct cluster_results *results);

/* "work", "gap", ... as in the JSON report. Static text. */
const char *cluster_rule_name(enum cluster_rule rule);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_CLUSTER_H */
