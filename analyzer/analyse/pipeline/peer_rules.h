/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_rules.h - rules of other profilers, each with its threshold and its source.
 *
 * Those of MindInsight's analysis of data pipelines, of MindSpore's own, and of msprof's advisors that can be judged
 * on the host. docs/report.md has a table of them: how each is judged here, and those that are not.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_PEER_RULES_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_PEER_RULES_H

#include <stdbool.h>

enum peer_rule_id {
	RULE_FETCH_EMPTY,
	RULE_DEVICE_QUEUE_EMPTY,
	RULE_QUEUE_STEP,
	RULE_LEAF_USAGE,
	RULE_HOST_CPU,
	RULE_WORKER_BUSY,
	RULE_WORKER_IDLE,
	RULE_LEAF_QUEUE,
	RULE_SENDER_EMPTY,
	RULE_QUEUE_DROP,
	RULE_STEP_GAP,
	RULE_ALONE,
	RULE_SLOW_LOADER,
	RULE_LAUNCH_BLOCKING,
	RULE_MEMORY_CALLS,
	RULE_GARBAGE,
	RULE_PAUSE,
	RULE_SYNC_NORM,
	RULE_COMPILE,
	RULE_AICPU,
	RULE_TRANSDATA,
	RULE_MEMORY_BOUND,
	PEER_RULES
};

struct peer_rule {
	const char *id; /* a promise to scripts */
	const char *source; /* the profiler, and the file in which it has the rule */
	const char *measures; /* what is compared with the threshold */
	const char *unit; /* of both: "%", "ms", "" */
	double threshold;
	bool below; /* it says something where less than that is measured, else where more is */
};

/* A rule that says something, and what was measured. */
struct peer_rule_hit {
	const struct peer_rule *rule;
	double value;
};

/* The rule itself. @id < PEER_RULES. */
const struct peer_rule *peer_rule(enum peer_rule_id id);

/* peer_rule_says - does @value pass the threshold? Exactly at it does not; NAN never does. */
bool peer_rule_says(enum peer_rule_id id, double value);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_PEER_RULES_H */
