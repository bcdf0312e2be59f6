/* SPDX-License-Identifier: Apache-2.0 */
/* After the last file: converts ids in rows to indices, and sums up the sessions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/load/load_judge.h"
#include "analyzer/load/load_pbt.h"
#include "analyzer/load/loader_private.h"

/*
 * Counts a row of an unknown thread, unless it is from before the recording: when a flight recorder's segment begins,
 * the kernel still holds a few switches and wake-ups of threads that had already ended.
 */
static void note_unknown(struct loader *loader, uint64_t ts_ns)
{
	bool since_start = ts_ns >= loader->model->info.session_start_ns;

	loader->model->bad_rows += since_start;
	loader->model->threadless_rows += since_start;
}

/* Keeps the rows of known threads. */
#define RESOLVE(loader, array, instant)                                                    \
	do {                                                                               \
		uint32_t kept = 0;                                                         \
                                                                                           \
		for (uint32_t i = 0; i < (array)->count; i++) {                            \
			uint32_t thread = loader_thread_at(loader, (array)->row[i].thread, \
							   (array)->row[i].instant);       \
                                                                                           \
			if (thread == INDEX_NONE) {                                        \
				note_unknown(loader, (array)->row[i].instant);             \
				continue;                                                  \
			}                                                                  \
			if (kept != i)                                                     \
				(array)->row[kept] = (array)->row[i];                      \
			(array)->row[kept++].thread = thread;                              \
		}                                                                          \
		(array)->count = kept;                                                     \
	} while (0)

/* A wake-up is kept even if its waker is unknown. */
static void resolve_wakes(struct loader *loader)
{
	struct model *model = loader->model;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < model->wakes.count; i++) {
		struct wake row = model->wakes.row[i];

		row.thread = loader_thread_at(loader, row.thread, row.ts_ns);
		if (row.thread == INDEX_NONE) {
			note_unknown(loader, row.ts_ns);
			continue;
		}
		row.waker_thread = loader_thread_at(loader, row.waker_tid, row.ts_ns);
		model->wakes.row[kept++] = row;
	}
	model->wakes.count = kept;
}

static void resolve_threads(struct loader *loader)
{
	struct model *model = loader->model;

	/*
	 * Without a header the recording begins with the first row of a known thread, so calls and
	 * ioctls are resolved first.
	 */
	if (!model->info.session_start_ns) {
		RESOLVE(loader, &model->calls, end_ns);
		RESOLVE(loader, &model->ioctls, end_ns);
	}
	RESOLVE(loader, &model->accounts, ts_ns);
	RESOLVE(loader, &model->interrupts, ts_ns);
	resolve_wakes(loader);
	RESOLVE(loader, &model->faults, end_ns);
	RESOLVE(loader, &model->block_requests, end_ns);
	RESOLVE(loader, &model->thread_roles, ts_ns);
	RESOLVE(loader, &model->stack_samples, ts_ns);
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		struct device_task *task = &model->tasks.row[i];

		task->thread = loader_thread_at(loader, task->thread, task->enqueue_ns);
	}
}

/* The same for the rows that are sorted, the majority of all rows. */
static bool settle_call(void *context, void *row, bool again)
{
	struct loader *loader = context;
	struct call *call = row;

	call->thread = loader_thread_at(loader, call->thread, call->end_ns);
	if (call->thread == INDEX_NONE && !again)
		note_unknown(loader, call->end_ns);
	return call->thread != INDEX_NONE;
}

static bool settle_ioctl(void *context, void *row, bool again)
{
	struct loader *loader = context;
	struct ioctl_call *call = row;

	call->thread = loader_thread_at(loader, call->thread, call->end_ns);
	if (call->thread == INDEX_NONE && !again)
		note_unknown(loader, call->end_ns);
	return call->thread != INDEX_NONE;
}

static bool settle_switch(void *context, void *row, bool again)
{
	const struct loader *loader = context;
	struct cpu_switch *of = row;

	(void)again;
	of->prev_thread = loader_thread_at(loader, of->prev_tid, of->ts_ns);
	of->next_thread = loader_thread_at(loader, of->next_tid, of->ts_ns);
	return true;
}

/* Converts thread ids of wakers to threads, and process ids of interpreters to processes. */
static void resolve_pythons(struct loader *loader)
{
	struct model *model = loader->model;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < model->stack_samples.count; i++) {
		struct stack_sample *row = &model->stack_samples.row[i];

		row->waker = row->waker ? loader_thread_at(loader, row->waker,
							   row->ts_ns + row->dur_ns) :
					  INDEX_NONE;
	}
	for (uint32_t i = 0; i < model->pythons.count; i++) {
		struct python_interpreter *row = &model->pythons.row[i];

		row->process = loader_process_at(loader, row->process, row->ts_ns);
		if (row->process != INDEX_NONE)
			model->pythons.row[kept++] = *row;
	}
	model->pythons.count = kept;
}

static int by_coverage(const void *a, const void *b)
{
	const struct coverage *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->probed_ns < y->probed_ns ? -1 : x->probed_ns > y->probed_ns;
}

/* Each segment repeats the coverage. */
static void unique_coverage(struct model *model)
{
	uint32_t kept = 0;

	if (model->coverage.count)
		qsort(model->coverage.row, model->coverage.count, sizeof(*model->coverage.row),
		      by_coverage);
	for (uint32_t i = 0; i < model->coverage.count; i++) {
		if (kept &&
		    by_coverage(&model->coverage.row[kept - 1], &model->coverage.row[i]) == 0)
			continue;
		model->coverage.row[kept++] = model->coverage.row[i];
	}
	model->coverage.count = kept;
}

static void resolve_processes(struct loader *loader)
{
	struct model *model = loader->model;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < model->coverage.count; i++) {
		struct coverage *row = &model->coverage.row[i];

		row->process = loader_process_at(loader, row->process, row->probed_ns);
		if (row->process != INDEX_NONE)
			model->coverage.row[kept++] = *row;
	}
	model->coverage.count = kept;
	unique_coverage(model);
	kept = 0;
	for (uint32_t i = 0; i < model->process_stats.count; i++) {
		struct process_stat *row = &model->process_stats.row[i];

		row->process = loader_process_at(loader, row->process, row->ts_ns);
		if (row->process != INDEX_NONE)
			model->process_stats.row[kept++] = *row;
	}
	model->bad_rows += model->process_stats.count - kept;
	model->threadless_rows += model->process_stats.count - kept;
	model->process_stats.count = kept;
	for (uint32_t i = 0; i < model->devices.count; i++)
		model->devices.row[i].process =
			loader_process_at(loader, model->devices.row[i].process, UINT64_MAX);
	kept = 0;
	for (uint32_t i = 0; i < model->short_calls.count; i++) {
		struct short_calls *row = &model->short_calls.row[i];

		row->process = loader_process_at(loader, row->process, UINT64_MAX);
		if (row->count && row->process != INDEX_NONE)
			model->short_calls.row[kept++] = *row;
	}
	model->short_calls.count = kept;
	for (uint32_t i = 0; i < model->launch_callers.count; i++) {
		struct launch_caller *row = &model->launch_callers.row[i];

		row->process = loader_process_at(loader, row->process, UINT64_MAX);
	}
}

/* Number of sources of all sessions; there are five. */
#define SOURCES_MAX 64

static struct source_loss *source_row(struct model *model, uint32_t name)
{
	struct source_loss new = { .name = name, .read = UINT64_MAX };

	for (uint32_t i = 0; i < model->sources.count; i++) {
		if (model->sources.row[i].name == name)
			return &model->sources.row[i];
	}
	if (model->sources.count == SOURCES_MAX)
		return &model->sources.row[SOURCES_MAX - 1];
	if (!MODEL_PUSH(&model->sources, new))
		return NULL;
	return &model->sources.row[model->sources.count - 1];
}

static void add_loss(struct source_loss *source, const struct source_loss *from)
{
	source->produced += from->produced;
	source->delivered += from->delivered;
	for (uint32_t r = 0; r < from->reason_count; r++) {
		uint32_t i = 0;

		while (i < source->reason_count &&
		       source->reasons[i].reason != from->reasons[r].reason)
			i++;
		if (i == sizeof(source->reasons) / sizeof(source->reasons[0]))
			i--;
		else if (i == source->reason_count)
			source->reasons[source->reason_count++].reason = from->reasons[r].reason;
		source->reasons[i].count += from->reasons[r].count;
	}
}

static bool sum_sources(struct loader *loader)
{
	static const char *const names[READ_SOURCES] = {
		[READ_API] = "api",
		[READ_IOCTL] = "ioctl",
		[READ_SCHED] = "sched",
		[READ_DEVICE] = "device",
		[READ_STACK] = "stack",
		[READ_FAULT] = "fault",
		[READ_BLOCK] = "io",
	};
	struct model *model = loader->model;

	for (uint32_t s = 0; s < loader->sessions.count; s++) {
		const struct session *session = &loader->sessions.row[s];

		for (uint32_t i = 0; i < session->source_count; i++) {
			struct source_loss *source = source_row(model, session->sources[i].name);

			if (!source)
				return false;
			add_loss(source, &session->sources[i]);
		}
	}
	for (uint32_t i = 0; i < model->sources.count; i++) {
		for (int s = 0; s < READ_SOURCES; s++) {
			if (strcmp(model_text(model, model->sources.row[i].name), names[s]) == 0)
				model->sources.row[i].read = loader->read[s];
		}
	}
	return true;
}

static uint64_t earliest_row(const struct model *model)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < model->calls.count; i++)
		first = model->calls.row[i].start_ns < first ? model->calls.row[i].start_ns : first;
	for (uint32_t i = 0; i < model->switches.count; i++)
		first = model->switches.row[i].ts_ns < first ? model->switches.row[i].ts_ns : first;
	for (uint32_t i = 0; i < model->accounts.count; i++)
		first = model->accounts.row[i].ts_ns < first ? model->accounts.row[i].ts_ns : first;
	for (uint32_t i = 0; i < model->host_stats.count; i++)
		first = model->host_stats.row[i].ts_ns < first ? model->host_stats.row[i].ts_ns
							       : first;
	return first == UINT64_MAX ? 0 : first;
}

static void sum_sessions(struct loader *loader)
{
	struct trace_info *info = &loader->model->info;

	info->ended = loader->sessions.count > 0;
	for (uint32_t i = 0; i < loader->sessions.count; i++) {
		const struct session *session = &loader->sessions.row[i];
		uint64_t end_ns = loader_session_end(session);

		if (end_ns > info->session_end_ns)
			info->session_end_ns = end_ns;
		info->ended &= session->final;
		if (session->end_reason)
			info->end_reason = session->end_reason;
		info->daemon_cpu_ns += session->daemon_cpu_ns;
		info->bytes += session->bytes;
	}
	if (!info->session_start_ns)
		info->session_start_ns = earliest_row(loader->model);
	if (info->session_end_ns < info->session_start_ns)
		info->session_end_ns = info->session_start_ns;
	info->start_ns = info->session_start_ns;
	info->end_ns = info->session_end_ns;
}

int load_finish(struct loader *loader, char *error, size_t error_size)
{
	struct model *model = loader->model;
	struct model_settling settling = { .context = loader, .cpu_switch = settle_switch };

	if (!window_finish(&loader->window) ||
	    !near_tasks_finish(&loader->near_tasks, model) || !load_threads(loader) ||
	    !digest_finish(&loader->digest))
		goto no_memory;
	if (model->info.session_start_ns) {
		settling.call = settle_call;
		settling.ioctl = settle_ioctl;
	}
	resolve_threads(loader);
	resolve_processes(loader);
	resolve_pythons(loader);
	load_resolve_code_names(loader);
	load_resolve_ends(loader);
	load_resolve_shed(loader);
	load_resolve_samples(loader);
	if (!sum_sources(loader))
		goto no_memory;
	sum_sessions(loader);
	far_launches_keep(&loader->far, &loader->near_tasks);
	far_launches_join(&loader->far, &loader->window);
	if (far_launches_doubtful(&loader->far))
		return -EAGAIN;
	MODEL_FIT(&model->calls);
	MODEL_FIT(&model->switches);
	MODEL_FIT(&model->wakes);
	MODEL_FIT(&model->tasks);
	if (!model_index_settled(model, &settling))
		goto no_memory;
	load_judge_calls(model);
	load_thread_names(model);
	return 0;
no_memory:
	snprintf(error, error_size, "out of memory");
	return -ENOMEM;
}
