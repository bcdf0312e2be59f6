/* SPDX-License-Identifier: Apache-2.0 */
/* A device's gaps and their causes, as a track beside its streams. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/export/perfetto/perfetto_trace.h"

#define RANK_IDLE 2

struct idle_writer {
	struct perfetto_trace *trace;
	uint64_t track;
	uint32_t gap_name;
	uint32_t category;
};

static void write_part(struct idle_writer *idle, const struct idle_part *part)
{
	struct perfetto_trace *trace = idle->trace;
	uint64_t start_ns = part->start_ns, end_ns = part->end_ns;
	struct perfetto_marks marks;
	uint32_t name, who = 0, detail = 0;
	bool cut;

	if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	name = perfetto_name(trace, PERFETTO_EVENTS,
			     perfetto_own(trace, idle_cause_name(part->cause)));
	if (part->who)
		who = perfetto_model_name(trace, PERFETTO_VALUES, part->who);
	if (part->detail)
		detail = perfetto_model_name(trace, PERFETTO_VALUES, part->detail);
	perfetto_begin(trace, idle->track, start_ns, name, idle->category, &marks);
	if (who)
		perfetto_arg_text(trace, ARG_WHO, who);
	if (detail)
		perfetto_arg_text(trace, ARG_DETAIL, detail);
	perfetto_event_end(trace, &marks);
	perfetto_end(trace, idle->track, end_ns);
}

static void write_gap(struct idle_writer *idle, const struct device_gap *gap,
		      const struct idle_gap *parts)
{
	struct perfetto_trace *trace = idle->trace;
	uint64_t start_ns = gap->start_ns, end_ns = gap->end_ns;
	struct perfetto_marks marks;
	bool cut;

	if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	perfetto_begin(trace, idle->track, start_ns, idle->gap_name, idle->category, &marks);
	perfetto_arg_uint(trace, ARG_GAP_NS, gap->end_ns - gap->start_ns);
	perfetto_event_end(trace, &marks);
	for (uint32_t i = 0; parts && i < parts->part_count; i++)
		write_part(idle, &parts->parts[i]);
	perfetto_end(trace, idle->track, end_ns);
}

static int by_start(const void *a, const void *b)
{
	const struct idle_gap *x = *(const struct idle_gap *const *)a;
	const struct idle_gap *y = *(const struct idle_gap *const *)b;

	return x->gap.start_ns < y->gap.start_ns ? -1 : x->gap.start_ns > y->gap.start_ns;
}

/* The gaps of the device that were split into causes, in order of time. */
static const struct idle_gap **split_gaps(const struct idle_result *idle, uint32_t device,
					  uint32_t *count)
{
	const struct idle_gap **gaps = malloc(((size_t)idle->gap_count + 1) * sizeof(*gaps));

	*count = 0;
	for (uint32_t i = 0; gaps && i < idle->gap_count; i++) {
		if (idle->gaps[i].gap.device == device)
			gaps[(*count)++] = &idle->gaps[i];
	}
	if (gaps)
		qsort(gaps, *count, sizeof(*gaps), by_start);
	return gaps;
}

int perfetto_write_idle(struct perfetto_trace *trace, uint32_t device, uint64_t parent)
{
	struct idle_writer idle = { .trace = trace };
	const struct device_usage *usage;
	const struct idle_gap **split;
	uint32_t count, next = 0;

	if (!trace->devices || device >= trace->devices->device_count)
		return 0;
	usage = &trace->devices->devices[device];
	split = split_gaps(&trace->devices->idle, device, &count);
	if (!split)
		return -ENOMEM;
	for (uint32_t i = 0; i < usage->gap_count; i++) {
		const struct device_gap *gap = &usage->gaps[i];

		while (next < count && split[next]->gap.start_ns < gap->start_ns)
			next++;
		if (gap->end_ns - gap->start_ns < trace->devices->idle.threshold_ns)
			continue;
		if (!idle.track) {
			idle.track = perfetto_add_track(
				trace, &(struct perfetto_track){
					       .name = "Idle, and why",
					       .parent = parent,
					       .rank = RANK_IDLE,
					       .description = "Time without any task, split by "
							      "what the thread that submitted "
							      "the next task did" });
			idle.gap_name =
				perfetto_name(trace, PERFETTO_EVENTS, perfetto_own(trace, "idle"));
			idle.category = perfetto_name(trace, PERFETTO_CATEGORIES,
						      perfetto_own(trace, "idle"));
		}
		write_gap(&idle, gap,
			  next < count && split[next]->gap.start_ns == gap->start_ns ? split[next]
										     : NULL);
	}
	free(split);
	return 0;
}
