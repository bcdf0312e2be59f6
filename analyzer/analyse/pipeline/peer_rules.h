/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_rules.h - rules of other profilers, each with its threshold and its source.
 *
 * The rules are those of MindInsight's analysis of data pipelines, of MindSpore's own, and of msprof's advisors, as far
 * as records of the host suffice. docs/report.md has a table of all rules: how each is evaluated here, and which are
 * not.
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
	const char *id; /* stable, for scripts */
	const char *source; /* the profiler, and its file with the rule */
	const char *measures; /* the value that is compared with the threshold */
	const char *unit; /* of value and threshold: "%", "ms", "" */
	double threshold;
	bool below; /* the rule applies to values below the threshold, else to values above it */
};

/* A rule that applies, and the measured value. */
struct peer_rule_hit {
	const struct peer_rule *rule;
	double value;
};

/* Returns the rule. @id < PEER_RULES. */
const struct peer_rule *peer_rule(enum peer_rule_id id);

/* peer_rule_says - does the rule apply to @value? Not if @value equals the threshold, or is NAN. */
bool peer_rule_says(enum peer_rule_id id, double value);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_PEER_RULES_H */
