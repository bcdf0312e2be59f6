/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/model/rows_fit.h"
#include "lib/base/bisect.h"

#define MODEL_ROWS_MAX (UINT32_MAX - 1)
#define LARGE_ROWS (8u << 20) /* bytes */

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

/* Frees the rows of devices, and of files about devices. */
static void free_device_rows(struct model *model)
{
	free(model->devices.row);
	free(model->tasks.row);
	free(model->task_details.row);
	free(model->task_metrics.row);
	free(model->device_steps.row);
	free(model->device_reduces.row);
	free(model->step_marks.row);
	free(model->link_uses.row);
	free(model->communication_times.row);
	free(model->memory_records.row);
	free(model->imported_operators.row);
	free(model->imported_sizes.row);
	free(model->imported_cpu.row);
	free(model->imported_batches.row);
	free(model->imported_reads.row);
	free(model->api_statistics.row);
	free(model->device_facts.row);
	free(model->operator_sums.row);
	free(model->pass_arrows.row);
	free(model->fused_operators.row);
	free(model->told_advice.row);
	free(model->cluster_steps.row);
	free(model->imports.row);
	free(model->findings.row);
}

static void free_stack_rows(struct model *model)
{
	free(model->code_files.row);
	free(model->code_frames.row);
	free(model->stack_frames.row);
	free(model->code_stacks.row);
	free(model->stack_samples.row);
	free(model->pythons.row);
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
	free(model->call_costs.row);
	free(model->counted_calls.row);
	free(model->ioctls.row);
	free(model->drivers.row);
	free(model->commands.row);
	free(model->code_names.row);
	free(model->sleep_objects.row);
	free(model->switches.row);
	free(model->counters.row);
	free(model->interrupts.row);
	free(model->faults.row);
	free(model->block_requests.row);
	free(model->io_waits.row);
	free(model->wakes.row);
	free(model->accounts.row);
	free(model->cpu_stats.row);
	free(model->host_stats.row);
	free(model->process_stats.row);
	free(model->cgroups.row);
	free(model->cgroup_stats.row);
	free(model->coverage.row);
	free(model->ends_changes.row);
	free(model->shed_changes.row);
	free(model->thread_roles.row);
	free(model->sources.row);
	free(model->short_calls.row);
	free(model->launch_callers.row);
	free(model->spans.row);
	free(model->timelines.row);
	free_device_rows(model);
	free_stack_rows(model);
	free(model->index.threads);
	free(model->index.calls);
	free(model->index.ioctls);
	free(model);
}

/* Large blocks are moved without being copied: they grow by less, so that less of them is empty. */
static uint64_t more_rows(uint64_t capacity, size_t row_size)
{
	uint64_t want = capacity * row_size < LARGE_ROWS ? capacity * 2 : capacity + capacity / 4;

	if (want < 64)
		return 64;
	return want < MODEL_ROWS_MAX ? want : MODEL_ROWS_MAX;
}

bool model_grow(void **row, uint32_t *capacity, uint32_t count, size_t row_size)
{
	uint64_t want = more_rows(*capacity, row_size);
	void *grown;

	if (count >= MODEL_ROWS_MAX)
		return false;
	if (!rows_fit(want * row_size))
		return false;
	grown = reallocarray(*row, want, row_size);
	if (!grown)
		return false;
	*row = grown;
	*capacity = want;
	return true;
}

void model_fit(void **row, uint32_t *capacity, uint32_t count, size_t row_size)
{
	void *fitting = count ? reallocarray(*row, count, row_size) : NULL;

	if (!fitting)
		return;
	*row = fitting;
	*capacity = count;
}

uint32_t *indices_none(uint32_t count)
{
	size_t size = ((size_t)count + 1) * sizeof(uint32_t);
	uint32_t *list = malloc(size);

	if (list)
		memset(list, 0xff, size);
	return list;
}

uint32_t model_string(struct model *model, const char *text)
{
	return string_table_add(model->strings, text, text ? strnlen(text, MODEL_TEXT_MAX) : 0);
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

bool model_has_pid(const struct model *model, uint32_t pid)
{
	for (uint32_t i = 0; i < model->processes.count; i++)
		if (model->processes.row[i].pid == pid)
			return true;
	return false;
}

bool model_has_sleeps(const struct model *model)
{
	const char *topics = model_text(model, model->info.topics);

	return !strstr(topics, "sample") || strstr(topics, "stack");
}

uint32_t model_thread_at(const struct model *model, uint32_t tid, uint64_t ts_ns)
{
	const struct thread *threads = model->threads.row;
	const uint32_t *order = model->index.threads;
	uint32_t next = BISECT(i, 0, model->index.thread_count,
			       threads[order[i]].tid < tid ||
				       (threads[order[i]].tid == tid &&
					threads[order[i]].first_ns <= ts_ns));

	if (next > 0 && threads[order[next - 1]].tid == tid)
		return order[next - 1];
	if (next < model->index.thread_count && threads[order[next]].tid == tid)
		return order[next];
	return INDEX_NONE;
}

uint32_t model_process_at(const struct model *model, uint32_t pid, uint64_t ts_ns)
{
	uint32_t thread = model_thread_at(model, pid, ts_ns);
	uint32_t process = thread < model->threads.count ? model->threads.row[thread].process : INDEX_NONE;

	if (process >= model->processes.count || model->processes.row[process].pid != pid ||
	    model->processes.row[process].start_ns > ts_ns)
		return INDEX_NONE;
	return process;
}

uint32_t model_parent(const struct model *model, uint32_t process)
{
	const struct process *row = &model->processes.row[process];
	uint32_t parent = row->parent_pid ? model_process_at(model, row->parent_pid, row->start_ns)
					  : INDEX_NONE;

	return parent == process ? INDEX_NONE : parent;
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

uint64_t model_call_ns(const struct model *model, const struct call *call)
{
	uint64_t ns = call->end_ns - call->start_ns, cost;

	if (!model->call_costs.count)
		return ns;
	cost = model->call_costs.row[call - model->calls.row];
	return ns > cost ? ns - cost : 0;
}

uint32_t model_device_end(const struct model *model, uint32_t first)
{
	const struct device_task *tasks = model->tasks.row;

	return BISECT(i, first, model->tasks.count, tasks[i].device <= tasks[first].device);
}

const struct task_detail *model_task_detail(const struct model *model,
					    const struct device_task *task)
{
	return task->detail && task->detail <= model->task_details.count
		       ? &model->task_details.row[task->detail - 1]
		       : NULL;
}

uint32_t model_command_name(const struct model *model, uint32_t driver, uint32_t cmd)
{
	const struct driver *row;

	if (driver >= model->drivers.count)
		return 0;
	row = &model->drivers.row[driver];
	for (uint32_t i = 0; i < row->command_count; i++) {
		const struct driver_command *command = &model->commands.row[row->first_command + i];

		if ((cmd & command->mask) == command->value)
			return command->name;
	}
	return 0;
}
