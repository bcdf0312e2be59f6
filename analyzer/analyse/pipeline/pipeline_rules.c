/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/pipeline_rules.h"

#include <math.h>

#include "lib/base/bisect.h"

/* Does the operator have no workers of its own? MindSpore's rules leave these out, too. */
static bool hands_on(const struct pipeline_operator *op)
{
	return op->in_trainer || op->workers == 0;
}

/* Returns the queue from which @thread fetches, or INDEX_NONE. */
static uint32_t fetched_queue(const struct pipeline *pipeline, uint32_t thread)
{
	uint32_t own = INDEX_NONE;

	for (uint32_t i = 0; i < pipeline->threads.count; i++)
		if (pipeline->threads.row[i].thread == thread)
			own = pipeline->threads.row[i].op;
	for (uint32_t q = 0; q < pipeline->queues.count; q++) {
		const struct pipeline_queue *queue = &pipeline->queues.row[q];

		if (queue->to_device)
			continue;
		if (queue->to == INDEX_NONE || queue->to == own ||
		    pipeline->operators.row[queue->to].in_trainer)
			return q;
	}
	return INDEX_NONE;
}

/* Elements in @queue at an instant, -1 = unknown. */
static int32_t size_at(const struct pipeline *pipeline, uint32_t queue, uint64_t ts_ns)
{
	const struct pipeline_queue_event *row = pipeline->queue_events.row;
	uint32_t next = BISECT(i, 0, pipeline->queue_events.count,
			       row[i].queue < queue ||
				       (row[i].queue == queue && row[i].end_ns <= ts_ns));

	return next && row[next - 1].queue == queue ? row[next - 1].size : -1;
}

double rules_fetch_empty(const struct pipeline_usage *usage)
{
	const struct pipeline *pipeline = usage->pipeline;
	uint32_t queue = fetched_queue(pipeline, usage->fetch.thread);
	uint32_t all = 0, empty = 0;

	if (queue == INDEX_NONE || !usage->queues[queue].known)
		return NAN;
	for (uint32_t i = STEPS_WARM_UP; i < pipeline->fetches.count; i++) {
		const struct pipeline_fetch *fetch = &pipeline->fetches.row[i];
		int32_t size = size_at(pipeline, queue, fetch->start_ns);

		if (size < 0 || fetch->end_of_data || fetch->open)
			continue;
		all++;
		empty += size == 0;
	}
	/* Other profilers' files have samples of sizes but no fetches. */
	if (!all)
		return usage->queues[queue].observed_ns ?
			       100 * (double)usage->queues[queue].empty_ns /
				       (double)usage->queues[queue].observed_ns :
			       NAN;
	return 100.0 * empty / all;
}

double rules_device_queue_empty(const struct pipeline_usage *usage)
{
	const struct pipeline *pipeline = usage->pipeline;
	uint32_t all = 0, empty = 0;

	for (uint32_t i = 0; i < pipeline->queue_events.count; i++) {
		const struct pipeline_queue_event *event = &pipeline->queue_events.row[i];

		if (!pipeline->queues.row[event->queue].to_device || event->size < 0)
			continue;
		if (all++ >= STEPS_WARM_UP)
			empty += event->size == 0;
	}
	return all > STEPS_WARM_UP ? empty : NAN;
}

double rules_wait_ms(const struct pipeline_steps *steps)
{
	return steps->judged ? (double)steps->judged_wait_ns / 1e6 / steps->judged : NAN;
}

/* Returns the mean fill of a queue in percent; NAN if not known. */
static double usage_of(const struct pipeline_usage *usage, uint32_t queue)
{
	uint32_t capacity;

	if (queue == INDEX_NONE || !usage->queues[queue].known)
		return NAN;
	capacity = usage->pipeline->queues.row[queue].capacity;
	return capacity ? 100 * usage->queues[queue].mean_size / capacity : NAN;
}

/* Returns the operator's fullest input queue, or the first one if no use is known; INDEX_NONE if it has none. */
static uint32_t input_of(const struct pipeline_usage *usage, uint32_t op)
{
	uint32_t found = INDEX_NONE;

	for (uint32_t q = 0; q < usage->pipeline->queues.count; q++)
		if (usage->pipeline->queues.row[q].to == op &&
		    (found == INDEX_NONE || usage_of(usage, q) > usage_of(usage, found) ||
		     (isnan(usage_of(usage, found)) && !isnan(usage_of(usage, q)))))
			found = q;
	return found;
}

static void cite_if(struct advice *advice, enum peer_rule_id rule, double value)
{
	if (peer_rule_says(rule, value))
		advice_cite(advice, rule, value);
}

/* Cites the rule about the operator that sends to a device, by the time in which its input was empty. */
static void cite_sender(const struct pipeline_usage *usage, struct advice *advice)
{
	for (uint32_t q = 0; q < usage->pipeline->queues.count; q++) {
		const struct pipeline_queue *queue = &usage->pipeline->queues.row[q];
		uint32_t input;

		if (!queue->to_device)
			continue;
		input = input_of(usage, queue->from);
		if (input != INDEX_NONE && usage->queues[input].observed_ns)
			cite_if(advice, RULE_SENDER_EMPTY,
				100 * (double)usage->queues[input].empty_ns /
					(double)usage->queues[input].observed_ns);
	}
}

static void cite_queues(const struct pipeline_usage *usage, uint32_t op, struct advice *advice)
{
	double output = usage_of(usage, usage->operators[op].queue);
	uint32_t input = input_of(usage, op);

	if (hands_on(&usage->pipeline->operators.row[op]))
		return;
	if (input == INDEX_NONE) {
		cite_if(advice, RULE_LEAF_QUEUE, output);
		cite_if(advice, RULE_LEAF_USAGE, output);
	} else {
		cite_if(advice, RULE_QUEUE_DROP, usage_of(usage, input) - output);
		cite_if(advice, RULE_QUEUE_STEP, usage_of(usage, input) - output);
	}
}

/* Returns the mean CPU use of an operator's workers; NAN if it has none. */
static double worker_percent(const struct pipeline_usage *usage, uint32_t op)
{
	uint32_t workers = usage->pipeline->operators.row[op].workers;

	return workers ? usage->operators[op].all_utilization / workers : NAN;
}

void rules_cite(const struct pipeline_steps *steps, const struct bottleneck *bottleneck,
		double host_percent, struct advice *advice)
{
	const struct pipeline_usage *usage = steps->usage;
	const struct pipeline_operator *op = &usage->pipeline->operators.row[bottleneck->op];
	double worker = worker_percent(usage, bottleneck->op);

	cite_if(advice, RULE_FETCH_EMPTY, rules_fetch_empty(usage));
	cite_if(advice, RULE_SLOW_LOADER, rules_wait_ms(steps));
	cite_sender(usage, advice);
	switch (bottleneck->kind) {
	case BOTTLENECK_BUSY:
		if (!hands_on(op))
			cite_if(advice, RULE_WORKER_BUSY, worker);
		break;
	case BOTTLENECK_STARVED:
	case BOTTLENECK_TAKES_CPU:
		cite_if(advice, RULE_HOST_CPU, host_percent);
		/* Fewer workers help only in these cases: an operator whose workers sleep needs more. */
		if (!hands_on(op) && op->workers > 1)
			cite_if(advice, RULE_WORKER_IDLE, worker);
		break;
	default: break;
	}
	cite_queues(usage, bottleneck->op, advice);
}
