/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/amd/rocm_rows.h"

int rocm_memory(struct rocm_rows *rocm, const struct rocm_memory *memory)
{
	if (!memory->start_ns || memory->end_ns < memory->start_ns || memory->end_ns > INT64_MAX)
		return import_finding(rocm->import, "memory operations without usable times: start or "
						    "duration is missing or no number (if there are many, "
						    "the profiler lost events: record less at a time)", NULL);
	return MODEL_PUSH(&rocm->memory, *memory) ? 0 : -ENOMEM;
}

bool rocm_memory_operation(struct rocm_rows *rocm, const char *name, struct rocm_memory *memory)
{
	memory->scratch = strstr(name, "SCRATCH") != NULL;
	memory->release = strstr(name, "FREE") || strstr(name, "RECLAIM");
	memory->level = model_string(rocm->import->model, memory->scratch	    ? "SCRATCH"
							  : strstr(name, "VMEM") ? "VIRTUAL"
										 : "REAL");
	return memory->release || strstr(name, "ALLOC");
}

/* An allocation counts from the end of its call until the start of the call that releases it. */
static uint64_t instant_of(const struct rocm_memory *memory)
{
	return memory->release ? memory->start_ns : memory->end_ns;
}

static int by_instant(const void *a, const void *b)
{
	const struct rocm_memory *x = a, *y = b;

	if (instant_of(x) != instant_of(y))
		return instant_of(x) < instant_of(y) ? -1 : 1;
	return y->release - x->release;
}

static uint64_t place_key(const struct rocm_memory *memory)
{
	uint64_t place = memory->place * 0x9e3779b97f4a7c15u + memory->pid;

	return memory->scratch ? ~place : place;
}

static int put(struct rocm_rows *rocm, const struct rocm_memory *memory,
	       const struct rocm_memory *allocation)
{
	struct model *model = rocm->import->model;
	const struct rocm_agent *agent = rocm_agent_of(rocm, allocation->agent);
	uint64_t number = agent ? agent->number : allocation->agent;
	struct memory_record record = {
		.ts_ns = import_host_time(&rocm->rows, rocm->clock, instant_of(memory)),
		.bytes = memory->release ? -(int64_t)allocation->bytes : (int64_t)allocation->bytes,
		.address = allocation->scratch ? 0 : allocation->place,
		.device = number < INDEX_NONE ? (uint32_t)number : 0,
		.process = memory->pid ? import_process(&rocm->rows, memory->pid) : INDEX_NONE,
		.file = rocm->import->file,
		.component = allocation->level,
		.flags = MODEL_MEMORY_CHANGE | (agent && !agent->gpu ? MODEL_MEMORY_HOST : 0),
	};

	if (!record.ts_ns)
		return import_finding(rocm->import, "memory records outside of the trace: no clock snapshot "
						    "of the recording reaches them (give the device file of "
						    "the same run)", NULL);
	return MODEL_PUSH(&model->memory_records, record) ? 0 : -ENOMEM;
}

/* @open: place -> its allocation, 1 + row; 0 after its release. */
static int put_row(struct rocm_rows *rocm, uint32_t row, struct map *open)
{
	const struct rocm_memory *memory = &rocm->memory.row[row];
	uint64_t key = place_key(memory);
	uint32_t known = map_get(open, key);

	if (!memory->release) {
		if (!memory->bytes || memory->bytes > INT64_MAX)
			return import_finding(rocm->import, "memory whose size is not told",
					      model_text(rocm->import->model, memory->level));
		return map_put(open, key, row + 1) ? put(rocm, memory, memory) : -ENOMEM;
	}
	/* Runtimes also release address 0, which has no effect. */
	if (known == MAP_NONE || !known)
		return memory->place ? import_finding(rocm->import,
						      "releases of memory got before, or of no size",
						      NULL)
				     : 0;
	return map_put(open, key, 0) ? put(rocm, memory, &rocm->memory.row[known - 1]) : -ENOMEM;
}

int rocm_put_memory(struct rocm_rows *rocm)
{
	struct map open = { 0 };
	int err = 0;

	if (rocm->memory.count)
		qsort(rocm->memory.row, rocm->memory.count, sizeof(*rocm->memory.row), by_instant);
	for (uint32_t i = 0; i < rocm->memory.count && !err; i++)
		err = put_row(rocm, i, &open);
	map_free(&open);
	return err;
}
