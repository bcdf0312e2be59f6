/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/last_rank.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>

#define RANKS_MAX 64 /* that are compared: each takes a pass over the samples */
#define LESS 2 /* the last rank waits for at most one part in so many of the time of the one that waits most */

int last_rank_own(struct model *model, const struct idle_tools *tools, const struct analysis_window *window,
		  uint32_t thread, struct idle_roots *own)
{
	const struct timeline *line = &model->timelines.row[thread];
	struct root_sums *sums = root_sums_new(model, tools, 0, 0);
	int err = sums ? 0 : -ENOMEM;

	*own = (struct idle_roots){ 0 };
	for (uint32_t i = 0; i < line->count && !err; i++) {
		const struct span *span = &model->spans.row[line->first + i];
		uint64_t from_ns = MAX(span->start_ns, window->from_ns), to_ns = MIN(span->end_ns, window->to_ns);

		if (span->state == STATE_RUNNING && from_ns < to_ns)
			err = root_sums_add_thread(sums, NULL, thread, from_ns, to_ns);
	}
	if (!err)
		err = root_sums_finish(sums, own);
	root_sums_free(sums);
	return err;
}

uint64_t last_rank_waits(const struct idle_roots *own)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < own->count; i++)
		ns += own->row[i].ranks_ns;
	return ns;
}

uint32_t last_rank_waiter(const struct idle_roots *own)
{
	const struct idle_root *most = NULL;

	for (uint32_t i = 0; i < own->count; i++)
		if (own->row[i].word && !strcmp(own->row[i].word, IDLE_WORD_RANKS) &&
		    (!most || own->row[i].ranks_ns > most->ranks_ns))
			most = &own->row[i];
	return most ? most->root.thread : INDEX_NONE;
}

bool last_rank_is_of(const struct model *model, const struct analysis_options *options, uint32_t of, uint32_t thread)
{
	const struct thread *row = &model->threads.row[thread];
	const struct process *process, *same;

	if (!row->target || row->kernel || !analysis_wants_process(model, options, row->process))
		return false;
	process = &model->processes.row[row->process];
	same = &model->processes.row[model->threads.row[of].process];
	return process->pid == row->tid && process->exe == same->exe && process->name == same->name;
}

int last_rank_find(struct model *model, const struct idle_tools *tools, const struct analysis_options *options,
		   const struct analysis_window *window, uint32_t thread, struct last_rank *last)
{
	uint64_t least_ns = UINT64_MAX;
	uint32_t ranks = 0;
	int err = 0;

	*last = (struct last_rank){ .thread = INDEX_NONE };
	for (uint32_t t = 0; t < model->threads.count && ranks < RANKS_MAX && !err; t++) {
		struct idle_roots own;
		uint64_t ns;

		if (!last_rank_is_of(model, options, thread, t))
			continue;
		err = last_rank_own(model, tools, window, t, &own);
		ns = last_rank_waits(&own);
		idle_roots_free(&own);
		if (ns < least_ns) {
			least_ns = ns;
			last->thread = t;
		}
		last->others_ns = MAX(last->others_ns, ns);
		ranks++;
	}
	last->least_ns = least_ns;
	if (ranks < 2 || LESS * least_ns > last->others_ns)
		last->thread = INDEX_NONE;
	return err;
}
