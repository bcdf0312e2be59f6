/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/losses.h"

#include <errno.h>
#include <stdlib.h>

#include "proto/trace.pb-c.h"

static void analyse_source(const struct source_loss *from, struct capture_source *source)
{
	for (uint32_t i = 0; i < from->reason_count; i++)
		source->lost += from->reasons[i].count;
	source->adds_up = from->produced == from->delivered + source->lost;
	/* from->read is UINT64_MAX if it is not comparable: then no row counts as missing. */
	source->missing = from->read < from->delivered ? from->delivered - from->read : 0;
}

static bool coverage_gap(const struct model *model, uint32_t index, struct coverage_gap *gap)
{
	const struct coverage *coverage = &model->coverage.row[index];
	uint64_t session_start_ns = coverage->session_start_ns;

	gap->coverage = index;
	gap->since_mapped = coverage->mapped_ns > session_start_ns;
	gap->start_ns = gap->since_mapped ? coverage->mapped_ns : session_start_ns;
	gap->of_process = !*model_text(model, coverage->file);
	if (coverage->probed_ns <= gap->start_ns || (coverage->functions == 0 && !gap->of_process))
		return false;
	gap->ns = coverage->probed_ns - gap->start_ns;
	return true;
}

/*
 * The thread that a CPU switched to must be the thread that it switches from next. Switches between
 * two threads that are not targets are not all recorded.
 */
static uint64_t missing_switches(const struct model *model)
{
	uint64_t missing = 0;

	for (uint32_t i = 1; i < model->switches.count; i++) {
		const struct cpu_switch *row = &model->switches.row[i], *before = row - 1;

		if (row->cpu == before->cpu && row->prev_tid != before->next_tid &&
		    (row->flags & PROFBPF__SWITCHES__FLAG__PREV_TARGET ||
		     before->flags & PROFBPF__SWITCHES__FLAG__NEXT_TARGET))
			missing++;
	}
	return missing;
}

static int by_length(const void *a, const void *b)
{
	const struct coverage_gap *x = a, *y = b;

	if (x->of_process != y->of_process)
		return x->of_process ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->coverage < y->coverage ? -1 : x->coverage > y->coverage;
}
static void end_span(struct capture_results *results, const struct ends_change *from,
		     uint64_t to_ns)
{
	struct ends_span *span = &results->unseen_ends[results->unseen_end_count];

	*span = (struct ends_span){
		.function = from->function,
		.calls_per_second = from->calls_per_second,
		.start_ns = from->ts_ns > from->session_start_ns ? from->ts_ns
								 : from->session_start_ns,
	};
	if (to_ns > from->session_end_ns)
		to_ns = from->session_end_ns;
	if (to_ns <= span->start_ns)
		return;
	span->ns = to_ns - span->start_ns;
	results->unseen_end_count++;
}

static int by_span_length(const void *a, const void *b)
{
	const struct ends_span *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* If a change was lost, with a damaged part of the file, two changes of a kind follow each other: the first counts. */
static void unseen_ends(const struct model *model, struct capture_results *results)
{
	const struct ends_change *from = NULL; /* begin of the open span */

	for (uint32_t i = 0; i < model->ends_changes.count; i++) {
		const struct ends_change *change = &model->ends_changes.row[i];

		if (from && from->function != change->function) {
			end_span(results, from, from->session_end_ns);
			from = NULL;
		}
		if (from && change->seen) {
			end_span(results, from, change->ts_ns);
			from = NULL;
		} else if (!from && !change->seen) {
			from = change;
		}
	}
	if (from)
		end_span(results, from, from->session_end_ns);
	qsort(results->unseen_ends, results->unseen_end_count, sizeof(*results->unseen_ends),
	      by_span_length);
}

const char *left_out_name(uint32_t what)
{
	switch (what) {
	case PROFBPF__SHED__WHAT__SAMPLES: return "samples";
	case PROFBPF__SHED__WHAT__SLEEPS: return "sleeps";
	default: return "wakeups";
	}
}

static bool goes_on(const struct model *model, uint32_t i)
{
	const struct shed_change *change = &model->shed_changes.row[i], *next = change + 1;

	return i + 1 < model->shed_changes.count && next->what == change->what &&
	       next->session_start_ns == change->session_start_ns;
}

static void left_out(const struct model *model, struct capture_results *results)
{
	for (uint32_t i = 0; i < model->shed_changes.count; i++) {
		const struct shed_change *from = &model->shed_changes.row[i];
		uint64_t start_ns = from->ts_ns, to_ns = from->session_end_ns;

		if (goes_on(model, i) && from[1].ts_ns < to_ns)
			to_ns = from[1].ts_ns;
		if (start_ns < from->session_start_ns)
			start_ns = from->session_start_ns;
		if (from->kept_permille == 1000 || to_ns <= start_ns)
			continue;
		results->left_out[results->left_out_count++] = (struct left_out){
			.what = from->what,
			.kept_permille = from->kept_permille,
			.cost_ppm = from->cost_ppm,
			.for_room = from->for_room,
			.start_ns = start_ns,
			.ns = to_ns - start_ns,
		};
	}
}

int capture_analyse(const struct model *model, struct capture_results *results)
{
	const struct pbt_damage *damage = &model->damage;

	*results = (struct capture_results){ .complete = model->info.ended };
	results->sources = calloc((size_t)model->sources.count + 1, sizeof(*results->sources));
	results->gaps = calloc((size_t)model->coverage.count + 1, sizeof(*results->gaps));
	results->unseen_ends =
		calloc((size_t)model->ends_changes.count + 1, sizeof(*results->unseen_ends));
	results->left_out = calloc((size_t)model->shed_changes.count + 1, sizeof(*results->left_out));
	if (!results->sources || !results->gaps || !results->unseen_ends || !results->left_out)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->sources.count; i++) {
		struct capture_source *source = &results->sources[results->source_count++];

		source->source = i;
		analyse_source(&model->sources.row[i], source);
		results->lost += source->lost;
		results->missing += source->missing;
		results->complete &= source->adds_up;
	}
	for (uint32_t i = 0; i < model->coverage.count; i++)
		results->gap_count += coverage_gap(model, i, &results->gaps[results->gap_count]);
	qsort(results->gaps, results->gap_count, sizeof(*results->gaps), by_length);
	for (uint32_t i = 0; i < results->gap_count; i++)
		results->process_gaps += results->gaps[i].of_process;
	if (unseen_launches_find(model, &results->unseen))
		return -ENOMEM;
	unseen_ends(model, results);
	left_out(model, results);
	results->damaged = damage->packets_skipped || damage->bytes_skipped || damage->torn_tail ||
			   model->bad_rows;
	results->switches_missing = model->survey.schedule ? model->survey.switches_missing
							   : missing_switches(model);
	results->complete &= !results->lost && !results->missing && !results->damaged &&
			     !model->unknown_values;
	return 0;
}

void capture_free(struct capture_results *results)
{
	free(results->sources);
	free(results->gaps);
	free(results->unseen_ends);
	free(results->left_out);
	unseen_launches_free(&results->unseen);
	*results = (struct capture_results){ 0 };
}
