/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/amd/rocm_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/device_facts.h"

enum { OF_ALL, OF_STALL, OF_INSTRUCTION };

#define DISPATCHES_MAX (1u << 30)
#define STALL "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"

/* An instruction of a kernel on a device. */
struct hot {
	uint32_t device; /* row, or INDEX_NONE */
	uint32_t kernel; /* string; 0 = not in the file */
	uint32_t instruction; /* string */
	uint64_t count;
};

int rocm_samples_kernel(struct rocm_samples *samples, uint64_t dispatch, uint32_t task)
{
	return map_put(&samples->kernels, dispatch, task) ? 0 : -ENOMEM;
}

static int add(struct rocm_samples *samples, uint8_t of, uint64_t dispatch, uint32_t number,
	       uint32_t word)
{
	const struct rocm_sample_count first = { dispatch, 1, word, of };
	uint64_t key = (uint64_t)number << 34 | (uint64_t)of << 32 | word;
	uint32_t row = map_get(&samples->rows, key);

	if (row != MAP_NONE) {
		samples->counts.row[row].count++;
		return 0;
	}
	return MODEL_PUSH(&samples->counts, first) &&
			       map_put(&samples->rows, key, samples->counts.count - 1)
		       ? 0
		       : -ENOMEM;
}

/* Numbers dispatches in the order of their samples. */
static int number_of(struct rocm_samples *samples, uint64_t dispatch, uint32_t *number)
{
	*number = map_get(&samples->numbers, dispatch);
	if (*number != MAP_NONE)
		return 0;
	*number = samples->numbers.count;
	if (*number >= DISPATCHES_MAX)
		return -E2BIG;
	return map_put(&samples->numbers, dispatch, *number) ? 0 : -ENOMEM;
}

int rocm_sample(struct rocm_samples *samples, struct model *model, uint64_t dispatch,
		uint32_t instruction, const char *stall)
{
	uint32_t number, word;
	char name[128];
	int err = number_of(samples, dispatch, &number);

	if (!err)
		err = add(samples, OF_ALL, dispatch, number, 0);
	if (!err)
		err = add(samples, OF_INSTRUCTION, dispatch, number, instruction);
	if (err || !stall || !*stall)
		return err;
	if (strncmp(stall, STALL, sizeof(STALL) - 1) == 0)
		stall += sizeof(STALL) - 1;
	snprintf(name, sizeof(name), "pc_samples_stalled.%s", stall);
	word = model_string(model, name);
	return word == INDEX_NONE ? -ENOMEM : add(samples, OF_STALL, dispatch, number, word);
}

int rocm_samples_count(const struct rocm_samples *samples, struct rocm_rows *rocm)
{
	uint32_t all = samples->counts.count ? model_string(rocm->import->model, "pc_samples") : 0;

	for (uint32_t i = 0; i < samples->counts.count; i++) {
		const struct rocm_sample_count *count = &samples->counts.row[i];
		uint32_t task = map_get(&samples->kernels, count->dispatch);
		struct rocm_counter counter = { .task = task,
						.name = count->of == OF_ALL ? all
									    : count->word,
						.value = (double)count->count };
		int err = 0;

		if (all == INDEX_NONE)
			return -ENOMEM;
		if (count->of == OF_INSTRUCTION)
			continue;
		if (task != MAP_NONE)
			err = MODEL_PUSH(&rocm->counters, counter) ? 0 : -ENOMEM;
		else if (count->of == OF_ALL)
			err = import_finding(rocm->import,
					     "dispatches with samples that no kernel trace has: "
					     "record with --kernel-trace, too",
					     NULL);
		if (err)
			return err;
	}
	return 0;
}

static int by_kernel(const struct hot *x, const struct hot *y)
{
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

static int by_instruction(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;
	int order = by_kernel(x, y);

	if (order)
		return order;
	return x->instruction < y->instruction ? -1 : x->instruction > y->instruction;
}

/* The most sampled first. */
static int by_count(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;
	int order = by_kernel(x, y);

	if (order)
		return order;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_instruction(a, b);
}

/* Adds up equal rows of @rows, in place; returns the number of remaining rows. */
static uint32_t add_up(struct hot *rows, uint32_t count)
{
	uint32_t used = 0;

	if (count)
		qsort(rows, count, sizeof(*rows), by_instruction);
	for (uint32_t i = 0; i < count; i++) {
		if (used && by_instruction(&rows[used - 1], &rows[i]) == 0)
			rows[used - 1].count += rows[i].count;
		else
			rows[used++] = rows[i];
	}
	if (used)
		qsort(rows, used, sizeof(*rows), by_count);
	return used;
}

static struct hot hot_of(const struct rocm_samples *samples, const struct model *model,
			 const struct rocm_sample_count *count, uint32_t first_task)
{
	uint32_t row = map_get(&samples->kernels, count->dispatch);
	struct hot hot = { .device = INDEX_NONE, .count = count->count };

	if (row != MAP_NONE && first_task + row < model->tasks.count) {
		hot.device = model->tasks.row[first_task + row].device;
		hot.kernel = model->tasks.row[first_task + row].name;
	}
	return hot;
}

static int put_facts(struct import *import, const struct hot *rows, uint32_t count)
{
	uint32_t listed = 0;
	char topic[256];
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		listed = i && by_kernel(&rows[i - 1], &rows[i]) == 0 ? listed + 1 : 0;
		if (listed >= ROCM_SAMPLES_LISTED)
			continue;
		snprintf(topic, sizeof(topic), "samples of %s",
			 rows[i].kernel ? model_text(import->model, rows[i].kernel) :
					  "unknown kernels");
		err = device_fact_number(import, rows[i].device, topic,
					 model_text(import->model, rows[i].instruction), "",
					 (double)rows[i].count);
	}
	return err;
}

int rocm_samples_put(const struct rocm_samples *samples, struct import *import, uint32_t first_task,
		     const uint32_t *words, uint32_t word_count)
{
	uint32_t count = 0, unknown = model_string(import->model, "an instruction that is not told");
	struct hot *rows = calloc((size_t)samples->counts.count + 1, sizeof(*rows));
	int err = rows && unknown != INDEX_NONE ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < samples->counts.count && !err; i++) {
		const struct rocm_sample_count *from = &samples->counts.row[i];

		if (from->of != OF_INSTRUCTION)
			continue;
		rows[count] = hot_of(samples, import->model, from, first_task);
		if (words)
			rows[count].instruction = from->word < word_count ? words[from->word]
									  : unknown;
		else
			rows[count].instruction = from->word ? from->word : unknown;
		count++;
	}
	if (!err)
		err = put_facts(import, rows, add_up(rows, count));
	free(rows);
	return err;
}

void rocm_samples_free(struct rocm_samples *samples)
{
	map_free(&samples->rows);
	map_free(&samples->numbers);
	map_free(&samples->kernels);
	free(samples->counts.row);
	*samples = (struct rocm_samples){ 0 };
}
