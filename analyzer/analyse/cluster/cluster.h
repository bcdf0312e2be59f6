/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - several ranks of a job side by side: whose part takes longest, and what that costs.
 *
 * Of each device, by overlap.h: computation, communication that nothing hides, and of that waiting to
 * receive from another pipeline stage. Its work is the stage without that wait (torch_npu's "Stage",
 * MindInsight's "stage time"): equal in all ranks if the parts of the model are balanced. Where files say which
 * rank is in which stage of a pipeline, ranks are put together by that, too: stages among themselves
 * show how the model is cut, ranks within one how the batch is.
 *
 * Of a device without tasks whose file has such parts of its steps (ascend_cluster_analyse_*) they are
 * means of the steps but the first, unless it is the only one: the stage is a step, idle time is in the
 * computation, and calculations a second are those of flops_summary_*.
 *
 * The slowest one is that with most work without what it waits for others in collectives, where that is known
 * (communication.h): who waits for the slowest one has as much of a stage as that. So is communication alone.
 *
 * Findings are MindInsight's rules for clusters, with its thresholds: a rank's mean gap before steps
 * above 1.2 times the ranks' mean, operations per second below 0.8 times, a link's bandwidth below 0.8
 * times that of all links of its transport, communication alone above a tenth of it and computation;
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
	uint64_t receive_ns; /* alone: waiting for another pipeline stage */
	uint64_t collective_ns; /* other communication alone */
	uint64_t free_ns; /* UINT64_MAX = unknown */
	double work_percent; /* of the mean of the others and itself: 100 = as long as that */
};

struct cluster_rank {
	uint32_t device; /* index into model->devices */
	uint64_t stage_ns;
	struct cluster_parts parts;
	bool has_steps;
	double step_ns; /* means */
	double gap_ns;
	double flops_rate; /* operations per second of its kernels; negative = unknown */
	bool told; /* by a file, as means of steps; not by its tasks */
	uint64_t wait_ns; /* of collective_ns: for ranks that came later */
};

/* Ranks of one stage of a pipeline; times are means of theirs. */
struct cluster_stage {
	uint32_t stage;
	uint32_t ranks;
	struct cluster_parts parts;
	uint32_t slowest; /* index into ranks: most work in it */
	double imbalance; /* percent by which that exceeds the stage's mean */
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
	struct cluster_rank *ranks; /* by device; none if there are not at least two */
	uint32_t count;
	uint32_t slowest; /* index into ranks: most work, without waiting in collectives */
	uint64_t mean_work_ns;
	double imbalance; /* percent by which the slowest one's work exceeds the mean */
	struct cluster_stage *stages; /* by stage; none if the files of a rank do not tell its own */
	uint32_t stage_count;
	uint32_t slowest_stage; /* index into stages */
	struct cluster_finding *findings; /* by rule */
	uint32_t finding_count;
	uint32_t finding_capacity;
};

/*
 * cluster_analyse - fill @results
 *
 * @steps: of devices, or NULL. Returns 0 or -ENOMEM; in both cases cluster_free() is to be called.
 */
int cluster_analyse(const struct model *model, const struct device_results *devices,
		    const struct device_step_results *steps, struct cluster_results *results);
void cluster_free(struct cluster_results *results);

/* "work", "gap", ... as in the JSON report. Static text. */
const char *cluster_rule_name(enum cluster_rule rule);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_CLUSTER_H */
