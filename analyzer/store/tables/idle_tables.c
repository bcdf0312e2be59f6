/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: causes of devices' idle time, and advice. */
#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/store/define_table.h"

static const struct idle_result *idle_of(const struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	return devices ? &devices->idle : NULL;
}

#define CAUSE_COLUMNS(COLUMN)                                                          \
	COLUMN(cause, TEXT, "cause", "what the launching thread did or waited for",    \
	       cell_text(idle_cause_name(row->cause)))                                 \
	COLUMN(who, TEXT, "who", "the thread, process or object that caused it",       \
	       cell_string(model, row->who))                                           \
	COLUMN(ns, NS, "idle", "idle time of all devices for which that is the cause", \
	       cell_u64(row->ns))                                                      \
	COLUMN(percent, PERCENT, "share", "of all idle time", cell_real(row->percent)) \
	COLUMN(gaps, COUNT, "gaps", "gaps with such a part", cell_u64(row->gaps))      \
	COLUMN(thread, ROW, "thread", "of the longest part: a row of threads",         \
	       cell_index(row->thread))                                                \
	COLUMN(detail, TEXT, "detail", "of the longest part", cell_string(model, row->detail))

static bool next_cause(struct table_cursor *at)
{
	const struct idle_result *idle = idle_of(at);

	return idle && cursor_rows(at, idle->totals, idle->total_count, sizeof(*idle->totals));
}

DEFINE_TABLE(idle_causes, struct idle_total, CAUSE_COLUMNS, next_cause,
	     "a cause of idle time; all rows add up to it",
	     .sections = SECTION_IDLE);

#define GAP_COLUMNS(COLUMN)                                                                       \
	COLUMN(gap, ROW, "gap", "this row", cell_u64(at->index))                                  \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->gap.device))              \
	COLUMN(start_ns, INSTANT, "start", "end of the task before", cell_u64(row->gap.start_ns)) \
	COLUMN(end_ns, INSTANT, "end", "start of the task after", cell_u64(row->gap.end_ns))      \
	COLUMN(task_before, ROW, "before", "the task that ended last before it: a row of tasks",  \
	       cell_index(row->gap.before))                                                       \
	COLUMN(task_after, ROW, "after", "the task that ended it: a row of tasks",                \
	       cell_index(row->gap.after))

static bool next_gap(struct table_cursor *at)
{
	const struct idle_result *idle = idle_of(at);

	return idle && cursor_rows(at, idle->gaps, idle->gap_count, sizeof(*idle->gaps));
}

DEFINE_TABLE(idle_gaps, struct idle_gap, GAP_COLUMNS, next_gap, "a time in which a device was idle",
	     .keyed = true,
	     .sections = SECTION_IDLE);

#define PART_COLUMNS(COLUMN)                                                                      \
	COLUMN(gap, ROW, "gap", "a row of idle_gaps", cell_u64(at->index))                        \
	COLUMN(start_ns, INSTANT, "start", "begin of the part", cell_u64(row->start_ns))          \
	COLUMN(end_ns, INSTANT, "end", "end of the part", cell_u64(row->end_ns))                  \
	COLUMN(cause, TEXT, "cause", "what the launching thread did or waited for",               \
	       cell_text(idle_cause_name(row->cause)))                                            \
	COLUMN(who, TEXT, "who", "the thread, process or object that caused it",                  \
	       cell_string(model, row->who))                                                      \
	COLUMN(thread, ROW, "thread", "the thread named in who, else the examined thread: a row " \
				      "of threads",                                               \
	       cell_index(row->thread))                                                           \
	COLUMN(detail, TEXT, "detail", "further details", cell_string(model, row->detail))

static bool next_part(struct table_cursor *at)
{
	const struct idle_result *idle = idle_of(at);

	if (!idle)
		return false;
	CURSOR_OUTER(at, idle->gap_count)
	{
		const struct idle_gap *gap = &idle->gaps[at->i];

		if (cursor_inner(at, gap, gap->parts, gap->part_count, sizeof(*gap->parts)))
			return true;
	}
	return false;
}

DEFINE_TABLE(idle_parts, struct idle_part, PART_COLUMNS, next_part,
	     "a part of a gap with one cause; a gap's parts have no holes", .keyed = true,
	     .sections = SECTION_IDLE);

#define ADVICE_COLUMNS(COLUMN)                                                                     \
	COLUMN(id, TEXT, "id", "the rule", cell_text(row->id))                                     \
	COLUMN(severity, TEXT, "severity", "high, medium or low", cell_text(row->severity))        \
	COLUMN(title, TEXT, "finding", "what is wrong", cell_text(row->title))                     \
	COLUMN(evidence, TEXT, "evidence", "the figures that show it", cell_text(row->evidence))   \
	COLUMN(remedy, TEXT, "remedy", "what to do", cell_text(row->remedy))                       \
	COLUMN(gain_at_most_percent, PERCENT, "gain at most", "share of the time that the advice " \
							      "is about, if the problem "          \
							      "disappears completely",             \
	       cell_known_real(row->gain_percent > 0, row->gain_percent))

static bool next_advice(struct table_cursor *at)
{
	const struct advice_results *advice = at->of->results->advice;

	return advice && cursor_rows(at, advice->list, advice->advice_count, sizeof(*advice->list));
}

DEFINE_TABLE(advice, struct advice, ADVICE_COLUMNS, next_advice,
	     "something to change, most urgent first");

#define ADVICE_RULE_COLUMNS(COLUMN)                                                                       \
	COLUMN(advice, ROW, "advice", "a row of advice", cell_u64(at->index))                             \
	COLUMN(rule, TEXT, "rule", "its name here", cell_text(row->rule->id))                             \
	COLUMN(measures, TEXT, "measures", "what is compared", cell_text(row->rule->measures))            \
	COLUMN(value, REAL, "value", "what was measured, in the unit", cell_real(row->value))             \
	COLUMN(threshold, REAL, "threshold", "the limit that it passes", cell_real(row->rule->threshold)) \
	COLUMN(unit, TEXT, "unit", "unit of value and threshold; empty for numbers and ratios",           \
	       cell_text(row->rule->unit))                                                                \
	COLUMN(source, TEXT, "source", "the profiler with this rule, and its source file",                \
	       cell_text(row->rule->source))

static bool next_advice_rule(struct table_cursor *at)
{
	const struct advice_results *advice = at->of->results->advice;

	if (!advice)
		return false;
	CURSOR_OUTER(at, advice->advice_count)
	{
		const struct advice *row = &advice->list[at->i];

		if (cursor_inner(at, row, row->rules, row->rule_count, sizeof(*row->rules)))
			return true;
	}
	return false;
}

DEFINE_TABLE(advice_rules, struct peer_rule_hit, ADVICE_RULE_COLUMNS, next_advice_rule,
	     "rules of other profilers that say the same", .keyed = true);
