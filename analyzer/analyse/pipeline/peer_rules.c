/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/peer_rules.h"

#define QUEUES "MindInsight, minddata_analyser.py"
#define USAGE "MindInsight, minddata_pipeline_analyser.py"
#define CPU "MindInsight, minddata_proposer.py"
#define OWN "MindSpore, minddata_analyzer.py"
#define ADVISOR "msprof-analyze, "

static const struct peer_rule RULES[PEER_RULES] = {
	[RULE_FETCH_EMPTY] = { "fetch_queue_empty", QUEUES,
			       "steps that found their input queue empty", "%", 30, false },
	[RULE_DEVICE_QUEUE_EMPTY] = { "device_queue_empty", QUEUES,
				      "batches that found the device's queue empty", "", 0, false },
	[RULE_QUEUE_STEP] = { "queue_usage_step", USAGE,
			      "use of its input queue beyond that of its output queue", "%", 10,
			      false },
	[RULE_LEAF_USAGE] = { "leaf_queue_usage", USAGE, "use of a source's output queue", "%", 60,
			      true },
	[RULE_HOST_CPU] = { "host_cpu", CPU, "use of all CPUs", "%", 80, false },
	[RULE_WORKER_BUSY] = { "worker_busy", OWN, "CPU of each worker", "%", 75, false },
	[RULE_WORKER_IDLE] = { "worker_idle", OWN, "CPU of each of several workers", "%", 20, true },
	[RULE_LEAF_QUEUE] = { "leaf_queue_empty", OWN, "use of a source's output queue", "%", 50,
			      true },
	[RULE_SENDER_EMPTY] = { "sender_queue_empty", OWN,
				"time in which the sender to the device found its input empty", "%",
				60, false },
	[RULE_QUEUE_DROP] = { "queue_usage_drop", OWN,
			      "use of its input queue beyond that of its output queue", "%", 50,
			      false },
	[RULE_STEP_GAP] = { "step_interval", "MindInsight, step_trace_proposer.py",
			    "mean time before a step", "ms", 0.5, false },
	[RULE_ALONE] = { "communication_alone", "MindInsight, parallel_proposer.py",
			 "communication alone, of computing and communicating", "%", 10, false },
	[RULE_SLOW_LOADER] = { "slow_dataloader", ADVISOR "dataloader.yaml",
			       "mean wait for data in a step", "ms", 10, false },
	[RULE_LAUNCH_BLOCKING] = { "synchronize_stream", ADVISOR "synchronize.yaml",
				   "waits right after a launch, for each launch", "", 0.5, false },
	[RULE_MEMORY_CALLS] = { "memory_operations", ADVISOR "memory.yaml",
				"time in calls that allocate and free", "ms", 10, false },
	[RULE_GARBAGE] = { "garbage_collection", ADVISOR "gc.yaml",
			   "longest stretch in the collector", "ms", 1, false },
	[RULE_PAUSE] = { "conjectured_gc", ADVISOR "conjectured_gc.yaml",
			 "longest idle time with hardly a call of the runtime", "ms", 200, false },
	[RULE_SYNC_NORM] = { "sync_batchnorm", ADVISOR "sync_batchnorm.yaml",
			     "synchronised batch normalisations", "", 19, false },
	[RULE_COMPILE] = { "operator_compile", ADVISOR "timeline_op_dispatch_analyzer.py",
			   "operators compiled", "", 19, false },
	[RULE_AICPU] = { "aicpu_operators", "msprof, prof_rule", "time on AI CPUs, of all tasks'",
			 "%", 5, false },
	[RULE_TRANSDATA] = { "transdata", "msprof, prof_rule", "conversions of formats", "", 2,
			     false },
	[RULE_MEMORY_BOUND] = { "memory_bound", "msprof, prof_rule",
				"AI cores' time in operators bound by memory", "%", 50, false },
};

const struct peer_rule *peer_rule(enum peer_rule_id id)
{
	return &RULES[id];
}

bool peer_rule_says(enum peer_rule_id id, double value)
{
	return RULES[id].below ? value < RULES[id].threshold : value > RULES[id].threshold;
}
