/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/cpu_slices.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/timeline/cpu_waits.h"
#include "analyzer/export/export_filter.h"
#include "proto/trace.pb-c.h"

struct builder {
	const struct model *model;
	struct export_window window;
	bool *chosen;
	bool complete; /* every switch was recorded */
	struct cpu_waits waits;
	uint32_t wait; /* the first wait that may reach into later stretches */
	struct cpu_slices *slices;
	uint32_t capacity;
	uint32_t cpu_capacity;
};

/* The stretch between two consecutive records of one CPU; NULL = an end of the session. */
struct stretch {
	const struct cpu_switch *begin;
	const struct cpu_switch *end;
	uint64_t start_ns;
	uint64_t end_ns;
	uint16_t cpu;
};

static bool add_slice(struct builder *builder, struct cpu_slice slice)
{
	struct cpu_slices *slices = builder->slices;
	bool cut;
	uint64_t end_ns = slice.end_ns;

	if (!export_clip(&builder->window, &slice.start_ns, &slice.end_ns, &cut))
		return true;
	if (slice.end_ns < end_ns)
		slice.leaves = CPU_SLICE_GOES_ON;
	if (slices->count >= builder->capacity &&
	    !model_grow((void **)&slices->slices, &builder->capacity, slices->count,
			sizeof(*slices->slices)))
		return false;
	slices->slices[slices->count++] = slice;
	return true;
}

static bool next_is_target(const struct builder *builder, const struct cpu_switch *row)
{
	return row && row->flags & PROFBPF__SWITCHES__FLAG__NEXT_TARGET &&
	       row->next_thread < builder->model->threads.count &&
	       builder->chosen[row->next_thread];
}

static bool prev_is_target(const struct builder *builder, const struct cpu_switch *row)
{
	return row && row->flags & PROFBPF__SWITCHES__FLAG__PREV_TARGET &&
	       row->prev_thread < builder->model->threads.count &&
	       builder->chosen[row->prev_thread];
}

/* Adds the thread that ran from the start of the stretch until @end_ns. */
static bool add_head(struct builder *builder, const struct stretch *stretch, uint64_t end_ns,
		     uint8_t leaves)
{
	return add_slice(builder, (struct cpu_slice){
					  .start_ns = stretch->start_ns,
					  .end_ns = end_ns,
					  .tid = stretch->begin->next_tid,
					  .thread = stretch->begin->next_thread,
					  .leaves = leaves,
				  });
}

/* Adds the thread that ran from @start_ns to the end of the stretch. */
static bool add_tail(struct builder *builder, const struct stretch *stretch, uint64_t start_ns)
{
	return add_slice(builder, (struct cpu_slice){
					  .start_ns = start_ns,
					  .end_ns = stretch->end_ns,
					  .tid = stretch->end->prev_tid,
					  .thread = stretch->end->prev_thread,
					  .leaves = stretch->end->state,
					  .flags = stretch->end->flags &
						   (PROFBPF__SWITCHES__FLAG__IO_WAIT |
						    PROFBPF__SWITCHES__FLAG__PAGE_FAULT),
				  });
}

/*
 * Finds how much of the beginning and the end of the stretch was recorded
 * completely because a target waited: until *@head_ns and since *@tail_ns.
 */
static void watched(struct builder *builder, const struct stretch *stretch, uint64_t *head_ns,
		    uint64_t *tail_ns)
{
	const struct cpu_waits *waits = &builder->waits;
	const struct cpu_wait *wait;

	*head_ns = stretch->start_ns;
	*tail_ns = stretch->end_ns;
	for (; builder->wait < waits->count; builder->wait++) {
		wait = &waits->row[builder->wait];
		if (wait->cpu > stretch->cpu)
			return;
		if (wait->cpu < stretch->cpu || wait->end_ns <= stretch->start_ns)
			continue;
		if (wait->start_ns >= stretch->end_ns)
			return;
		if (wait->start_ns <= stretch->start_ns)
			*head_ns = wait->end_ns < stretch->end_ns ? wait->end_ns : stretch->end_ns;
		if (wait->end_ns >= stretch->end_ns) {
			*tail_ns = wait->start_ns > stretch->start_ns ? wait->start_ns
								      : stretch->start_ns;
			return; /* the wait may reach into the next stretch */
		}
	}
}

static bool first_stretch(struct builder *builder, const struct stretch *stretch, uint64_t tail_ns)
{
	uint32_t prev = stretch->end->prev_thread;

	if (builder->complete || prev_is_target(builder, stretch->end)) {
		/* A thread that began later was switched in during the stretch; that record is lost. */
		if (prev < builder->model->threads.count &&
		    builder->model->threads.row[prev].start_ns > stretch->start_ns)
			return true;
		tail_ns = stretch->start_ns;
	}
	return tail_ns == stretch->end_ns || add_tail(builder, stretch, tail_ns);
}

static bool last_stretch(struct builder *builder, const struct stretch *stretch, uint64_t head_ns)
{
	if (builder->complete || next_is_target(builder, stretch->begin))
		head_ns = stretch->end_ns;
	return head_ns == stretch->start_ns ||
	       add_head(builder, stretch, head_ns,
			head_ns == stretch->end_ns ? CPU_SLICE_GOES_ON : CPU_SLICE_NOT_RECORDED);
}

static bool add_stretch(struct builder *builder, const struct stretch *stretch)
{
	bool whole = builder->complete || next_is_target(builder, stretch->begin) ||
		     prev_is_target(builder, stretch->end);
	uint64_t head_ns, tail_ns;

	watched(builder, stretch, &head_ns, &tail_ns);
	if (!stretch->begin)
		return first_stretch(builder, stretch, tail_ns);
	if (!stretch->end)
		return last_stretch(builder, stretch, head_ns);
	if (whole || head_ns == stretch->end_ns) {
		/* Otherwise a record between the two was lost, and the times are unknown. */
		if (stretch->begin->next_tid == stretch->end->prev_tid)
			return add_tail(builder, stretch, stretch->start_ns);
		return true;
	}
	if (head_ns > stretch->start_ns &&
	    !add_head(builder, stretch, head_ns, CPU_SLICE_NOT_RECORDED))
		return false;
	return tail_ns == stretch->end_ns || add_tail(builder, stretch, tail_ns);
}

static bool add_cpu(struct builder *builder, const struct cpu_switch *rows, uint32_t count)
{
	const struct trace_info *info = &builder->model->info;
	struct cpu_slices *slices = builder->slices;
	uint32_t first = slices->count;

	for (uint32_t i = 0; i <= count; i++) {
		struct stretch stretch = {
			.begin = i > 0 ? &rows[i - 1] : NULL,
			.end = i < count ? &rows[i] : NULL,
			.start_ns = i > 0 ? rows[i - 1].ts_ns : info->session_start_ns,
			.end_ns = i < count ? rows[i].ts_ns : info->session_end_ns,
			.cpu = rows[0].cpu,
		};

		if (stretch.end_ns >= stretch.start_ns && !add_stretch(builder, &stretch))
			return false;
	}
	if (slices->cpu_count >= builder->cpu_capacity &&
	    !model_grow((void **)&slices->cpus, &builder->cpu_capacity, slices->cpu_count,
			sizeof(*slices->cpus)))
		return false;
	slices->cpus[slices->cpu_count++] = (struct cpu_row){
		.cpu = rows[0].cpu,
		.first = first,
		.count = slices->count - first,
	};
	return true;
}

int cpu_slices_build(const struct model *model, const struct export_options *options,
		     struct cpu_slices *slices)
{
	struct builder builder = {
		.model = model,
		.complete = model->info.system_wide && options->pid_count == 0,
		.slices = slices,
	};
	const struct cpu_switch *rows = model->switches.row;
	uint32_t end;
	int error = -ENOMEM;

	*slices = (struct cpu_slices){ 0 };
	export_window_init(&builder.window, model, options);
	builder.chosen = export_threads(model, options);
	if (!builder.chosen || cpu_waits_find(model, builder.chosen, &builder.waits) != 0)
		goto cleanup;
	for (uint32_t i = 0; i < model->switches.count; i = end) {
		for (end = i; end < model->switches.count && rows[end].cpu == rows[i].cpu;)
			end++;
		if (!add_cpu(&builder, rows + i, end - i))
			goto cleanup;
	}
	error = 0;
cleanup:
	cpu_waits_free(&builder.waits);
	free(builder.chosen);
	return error;
}

void cpu_slices_free(struct cpu_slices *slices)
{
	free(slices->slices);
	free(slices->cpus);
	*slices = (struct cpu_slices){ 0 };
}
