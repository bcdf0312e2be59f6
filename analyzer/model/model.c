/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODEL_ROWS_MAX (UINT32_MAX - 1)

struct model *model_new(void)
{
	struct model *model = calloc(1, sizeof(*model));

	if (!model)
		return NULL;
	model->strings = string_table_new();
	model->clocks = clock_table_new();
	if (!model->strings || !model->clocks) {
		model_free(model);
		return NULL;
	}
	return model;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	string_table_free(model->strings);
	clock_table_free(model->clocks);
	free(model->info.targets);
	free(model->files.row);
	free(model->notes.row);
	free(model->processes.row);
	free(model->threads.row);
	free(model->functions.row);
	free(model->calls.row);
	free(model->ioctls.row);
	free(model->drivers.row);
	free(model->switches.row);
	free(model->wakes.row);
	free(model->accounts.row);
	free(model->cpu_stats.row);
	free(model->host_stats.row);
	free(model->devices.row);
	free(model->tasks.row);
	free(model->coverage.row);
	free(model->sources.row);
	free(model->short_calls.row);
	free(model->spans.row);
	free(model->timelines.row);
	free(model->index.threads);
	free(model->index.calls);
	free(model->index.ioctls);
	free(model);
}

/*
 * Better to fail than to make the machine swap or kill: a few bytes of a hostile file,
 * decompressed, make gigabytes of rows.
 */
static bool fits_memory(uint64_t rows, size_t row_size)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);

	if (pages <= 0 || page_size <= 0)
		return true;
	return rows * row_size <= (uint64_t)pages * (uint64_t)page_size / 2;
}

bool model_grow(void **row, uint32_t *capacity, uint32_t count, size_t row_size)
{
	uint64_t want = *capacity ? (uint64_t)*capacity * 2 : 64;
	void *grown;

	if (count >= MODEL_ROWS_MAX)
		return false;
	if (want > MODEL_ROWS_MAX)
		want = MODEL_ROWS_MAX;
	if (!fits_memory(want, row_size))
		return false;
	grown = reallocarray(*row, want, row_size);
	if (!grown)
		return false;
	*row = grown;
	*capacity = want;
	return true;
}

uint32_t model_string(struct model *model, const char *text)
{
	return string_table_add_text(model->strings, text);
}

const char *model_text(const struct model *model, uint32_t id)
{
	return string_table_get(model->strings, id);
}

static int by_tid(const void *a, const void *b, void *context)
{
	const struct thread *threads = context;
	const struct thread *x = &threads[*(const uint32_t *)a];
	const struct thread *y = &threads[*(const uint32_t *)b];

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

bool model_index_threads(struct model *model)
{
	struct model_index *index = &model->index;

	free(index->threads);
	index->thread_count = 0;
	index->threads = calloc((size_t)model->threads.count + 1, sizeof(*index->threads));
	if (!index->threads)
		return false;
	for (uint32_t i = 0; i < model->threads.count; i++)
		index->threads[i] = i;
	if (model->threads.count)
		qsort_r(index->threads, model->threads.count, sizeof(*index->threads), by_tid,
			model->threads.row);
	index->thread_count = model->threads.count;
	return true;
}

uint32_t model_thread_at(const struct model *model, uint32_t tid, uint64_t ts_ns)
{
	const struct thread *threads = model->threads.row;
	const uint32_t *order = model->index.threads;
	uint32_t low = 0, high = model->index.thread_count;

	/* The first row beyond (tid, ts_ns). */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct thread *thread = &threads[order[middle]];

		if (thread->tid < tid || (thread->tid == tid && thread->first_ns <= ts_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && threads[order[low - 1]].tid == tid)
		return order[low - 1];
	if (low < model->index.thread_count && threads[order[low]].tid == tid)
		return order[low];
	return INDEX_NONE;
}

static uint32_t rows_of(const struct model *model, const uint32_t *index, uint32_t thread,
			uint32_t *first)
{
	*first = 0;
	if (!index || thread >= model->threads.count)
		return 0;
	*first = index[thread];
	return index[thread + 1] - index[thread];
}

uint32_t model_thread_calls(const struct model *model, uint32_t thread, uint32_t *first)
{
	return rows_of(model, model->index.calls, thread, first);
}

uint32_t model_thread_ioctls(const struct model *model, uint32_t thread, uint32_t *first)
{
	return rows_of(model, model->index.ioctls, thread, first);
}
