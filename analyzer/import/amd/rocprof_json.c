/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprofv3's JSON (`rocprofv3 --output-format json`): {"rocprofiler-sdk-tool": [{...}]}, an element for each
 * process.
 *
 * Kernels are numbers of kernel_symbols, functions are numbers of strings.buffer_records[kind]
 * .operations[operation]; agents have handles. Times are nanoseconds of CLOCK_BOOTTIME, the clock that the SDK
 * reads. Schema: rocprofv3-schema.json of rocprofiler-sdk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_objects.h"
#include "analyzer/import/amd/rocm_rows.h"
#include "analyzer/import/amd/rocm_samples.h"

#define ROOT "rocprofiler-sdk-tool"
#define RECORDS ROOT ".buffer_records."

enum list { L_AGENTS, L_SYMBOLS, L_KERNELS, L_COPIES, L_MEMORY, L_SCRATCH, L_SAMPLES, L_STOCHASTIC, L_CALLS };

static const char *const LISTS[] = { ROOT ".agents",
				     ROOT ".kernel_symbols",
				     RECORDS "kernel_dispatch",
				     RECORDS "memory_copy",
				     RECORDS "memory_allocation",
				     RECORDS "scratch_memory",
				     RECORDS "pc_sample_host_trap",
				     RECORDS "pc_sample_stochastic",
				     RECORDS "hip_api",
				     RECORDS "hsa_api",
				     RECORDS "rccl_api",
				     NULL };

/* The runtimes of the lists from L_CALLS on, in their order. */
static const char *const RUNTIMES[] = { "hip", "hsa", "rccl" };

enum field {
	F_START,
	F_END,
	F_KIND,
	F_OPERATION,
	F_THREAD,
	F_CORRELATION,
	F_AGENT,
	F_QUEUE,
	F_KERNEL,
	F_STREAM,
	F_FROM,
	F_TO,
	F_BYTES,
	F_ID,
	F_TYPE,
	F_NUMBER,
	F_PRODUCT,
	F_MODEL,
	F_NAME,
	F_SYMBOL,
	F_FORMATTED,
	F_DEMANGLED,
	F_MANGLED,
	F_MEMORY_AGENT,
	F_MEMORY_QUEUE,
	F_ADDRESS,
	F_ADDRESS_HANDLE,
	F_SIZE,
	F_DISPATCH,
	F_SAMPLED,
	F_INSTRUCTION,
	F_ISSUED,
	F_STALL,
	FIELDS
};

static const char *const KEYS[] = {
	"start_timestamp",
	"end_timestamp",
	"kind",
	"operation",
	"thread_id",
	"correlation_id.internal",
	"dispatch_info.agent_id.handle",
	"dispatch_info.queue_id.handle",
	"dispatch_info.kernel_id",
	"stream_id.handle",
	"src_agent_id.handle",
	"dst_agent_id.handle",
	"bytes",
	"id.handle",
	"type",
	"logical_node_type_id",
	"product_name",
	"model_name",
	"name",
	"kernel_id",
	"formatted_kernel_name",
	"demangled_kernel_name",
	"kernel_name",
	"agent_id.handle",
	"queue_id.handle",
	"address",
	"address.handle",
	"allocation_size",
	"dispatch_info.dispatch_id",
	"record.dispatch_id",
	"inst_index",
	"record.wave_issued",
	"record.snapshot.stall_reason",
	NULL,
};

_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == FIELDS + 1, "a key for each field");

static const uint8_t UNITS[FIELDS] = { [F_START] = DECIMAL_NS, [F_END] = DECIMAL_NS };

struct rocprof {
	struct import *import;
	struct rocm_rows rocm;
	struct map kernels; /* number of a process's kernel -> string */
	struct map operations; /* kind << 32 | operation -> string */
	uint32_t kind; /* the kind whose operations are being listed, from 1; 0 = none yet */
	uint32_t operation;
	uint32_t pid; /* process id of the current element */
	uint32_t process; /* number of the current element */
	MODEL_ARRAY(uint64_t)
	kernel_of; /* per task: key for looking up its name; 0 = named */
	struct rocm_samples samples;
	MODEL_ARRAY(uint32_t) instructions; /* strings, by number, one process after the other */
	uint32_t first_instruction; /* index of the process's first one */
};

static int detect(const struct import_sample *sample)
{
	return !sample->directory && strstr(sample->text, "\"" ROOT "\"") ? 90 : 0;
}

static uint64_t number_of(const struct json_value *value)
{
	uint64_t number = 0;

	if (value->text && !decimal_unsigned(value->text, value->length, &number))
		number = 0;
	return number;
}

static uint64_t kernel_key(const struct rocprof *file, const struct json_value *number)
{
	return ((uint64_t)file->process + 1) << 40 | number_of(number);
}

static int on_agent(struct rocprof *file, const struct json_value *values)
{
	static const enum field NAMES[] = { F_PRODUCT, F_MODEL, F_NAME };
	struct rocm_agent agent = { .number = UINT64_MAX, .gpu = number_of(&values[F_TYPE]) == 2 };

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]) && !agent.name; i++)
		agent.name = model_string(file->import->model, values[NAMES[i]].text);
	if (agent.name == INDEX_NONE)
		return -ENOMEM;
	if (values[F_NUMBER].text)
		agent.number = number_of(&values[F_NUMBER]);
	return rocm_agent(&file->rocm, number_of(&values[F_ID]), &agent);
}

/* Names that were not formatted end in ".kd", as a kernel descriptor's. */
static uint32_t symbol_name(struct rocprof *file, const struct json_value *values)
{
	static const enum field NAMES[] = { F_FORMATTED, F_DEMANGLED, F_MANGLED };

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		const struct json_value *name = &values[NAMES[i]];
		size_t length = name->length;

		if (!name->text || !length)
			continue;
		if (length > 3 && strcmp(name->text + length - 3, ".kd") == 0)
			length -= 3;
		return string_table_add(file->import->model->strings, name->text, length);
	}
	return 0;
}

static int on_symbol(struct rocprof *file, const struct json_value *values)
{
	uint32_t name = symbol_name(file, values);

	if (name == INDEX_NONE ||
	    !map_put(&file->kernels, kernel_key(file, &values[F_SYMBOL]), name))
		return -ENOMEM;
	return 0;
}

static int add_task(struct rocprof *file, struct rocm_task *task, uint64_t kernel)
{
	uint32_t before = file->rocm.tasks.count;
	int err = rocm_task(&file->rocm, task);

	if (!err && file->rocm.tasks.count != before && !MODEL_PUSH(&file->kernel_of, kernel))
		err = -ENOMEM;
	return err;
}

static struct rocm_task task_of(const struct rocprof *file, const struct json_value *values)
{
	return (struct rocm_task){ .start_ns = number_of(&values[F_START]),
				   .end_ns = number_of(&values[F_END]),
				   .correlation = number_of(&values[F_CORRELATION]),
				   .stream = number_of(&values[F_STREAM]),
				   .tid = number_of(&values[F_THREAD]),
				   .pid = file->pid };
}

static uint64_t dispatch_key(const struct rocprof *file, const struct json_value *number)
{
	return (uint64_t)file->process << 40 | number_of(number);
}

static int on_kernel(struct rocprof *file, const struct json_value *values)
{
	struct rocm_task task = task_of(file, values);
	uint32_t before = file->rocm.tasks.count;
	int err;

	task.agent = number_of(&values[F_AGENT]);
	task.queue = number_of(&values[F_QUEUE]);
	task.kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL;
	err = add_task(file, &task, kernel_key(file, &values[F_KERNEL]));
	if (err || file->rocm.tasks.count == before || !values[F_DISPATCH].text)
		return err;
	return rocm_samples_kernel(&file->samples, dispatch_key(file, &values[F_DISPATCH]), before);
}

/* An instruction that was not decoded has the number -1. */
static int on_sample(struct rocprof *file, const struct json_value *values)
{
	uint64_t number = number_of(&values[F_INSTRUCTION]);
	uint32_t instruction = UINT32_MAX;

	if (values[F_INSTRUCTION].text && *values[F_INSTRUCTION].text != '-' &&
	    number < UINT32_MAX - file->first_instruction)
		instruction = file->first_instruction + (uint32_t)number;
	return rocm_sample(&file->samples, file->import->model,
			   dispatch_key(file, &values[F_SAMPLED]), instruction,
			   values[F_ISSUED].text && number_of(&values[F_ISSUED]) == 0
				   ? values[F_STALL].text
				   : NULL);
}

static uint32_t operation_name(const struct rocprof *file, const struct json_value *values)
{
	uint32_t name =
		map_get(&file->operations, number_of(&values[F_KIND]) << 32 |
						   (uint32_t)number_of(&values[F_OPERATION]));

	return name == MAP_NONE ? 0 : name;
}

static int on_copy(struct rocprof *file, const struct json_value *values)
{
	struct rocm_task task = task_of(file, values);
	uint64_t to = number_of(&values[F_TO]), from = number_of(&values[F_FROM]);

	/* A copy to the host belongs to its GPU. */
	task.agent = rocm_is_cpu(&file->rocm, to) ? from : to;
	task.bytes = number_of(&values[F_BYTES]);
	task.name = operation_name(file, values);
	task.queue = UINT32_MAX; /* copies have a queue of their own, of unknown number */
	task.kind = PROFBPF__DEVICE_TASKS__KIND__COPY;
	if (!task.name)
		task.name = model_string(file->import->model, "memory copy");
	return task.name == INDEX_NONE ? -ENOMEM : add_task(file, &task, 0);
}

/* In older files agents and addresses are plain numbers or texts instead of handles. */
static int on_memory(struct rocprof *file, const struct json_value *values, bool scratch)
{
	struct rocm_memory memory = { .start_ns = number_of(&values[F_START]),
				      .end_ns = number_of(&values[F_END]),
				      .agent = number_of(&values[F_MEMORY_AGENT]),
				      .bytes = number_of(&values[F_SIZE]),
				      .pid = file->pid };
	uint32_t name = operation_name(file, values);

	if (!rocm_memory_operation(&file->rocm, model_text(file->import->model, name), &memory))
		return import_finding(file->import, "memory operations of no known sort: a newer profiler "
						    "may have written them; the others count",
				      model_text(file->import->model, name));
	if (memory.level == INDEX_NONE)
		return -ENOMEM;
	if (scratch)
		memory.place = number_of(&values[F_MEMORY_QUEUE]);
	else
		memory.place = number_of(
			&values[values[F_ADDRESS].text ? F_ADDRESS : F_ADDRESS_HANDLE]);
	return rocm_memory(&file->rocm, &memory);
}

static int on_call(struct rocprof *file, const struct json_value *values, const char *runtime)
{
	struct rocm_call call = { .start_ns = number_of(&values[F_START]),
				  .end_ns = number_of(&values[F_END]),
				  .correlation = number_of(&values[F_CORRELATION]),
				  .tid = number_of(&values[F_THREAD]),
				  .pid = file->pid,
				  .name = operation_name(file, values),
				  .runtime = model_string(file->import->model, runtime) };

	if (!call.name)
		call.name = model_string(file->import->model, "unnamed");
	if (call.name == INDEX_NONE || call.runtime == INDEX_NONE)
		return -ENOMEM;
	return rocm_call(&file->rocm, &call);
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	struct rocprof *file = context;
	size_t which = 0;

	while (LISTS[which] != list)
		which++;
	switch (which) {
	case L_AGENTS: return on_agent(file, values);
	case L_SYMBOLS: return on_symbol(file, values);
	case L_KERNELS: return on_kernel(file, values);
	case L_COPIES: return on_copy(file, values);
	case L_MEMORY: return on_memory(file, values, false);
	case L_SCRATCH: return on_memory(file, values, true);
	case L_SAMPLES:
	case L_STOCHASTIC: return on_sample(file, values);
	default: return on_call(file, values, RUNTIMES[which - L_CALLS]);
	}
}

/* Reads names of operations, and the process of the element. */
static int on_scalar(void *context, const char *key, const struct json_value *value)
{
	struct rocprof *file = context;
	uint32_t name;

	if (strcmp(key, ROOT ".metadata.pid") == 0) {
		file->process += file->pid != 0;
		file->pid = (uint32_t)number_of(value);
		file->kind = 0;
		file->first_instruction = file->instructions.count;
	} else if (strcmp(key, ROOT ".strings.buffer_records.kind") == 0) {
		file->kind++;
		file->operation = 0;
	} else if (file->kind && strcmp(key, ROOT ".strings.buffer_records.operations") == 0) {
		name = model_string(file->import->model, value->text);
		if (name == INDEX_NONE ||
		    !map_put(&file->operations,
			     (uint64_t)(file->kind - 1) << 32 | file->operation++, name))
			return -ENOMEM;
	} else if (strcmp(key, ROOT ".strings.pc_sample_instructions") == 0) {
		name = model_string(file->import->model, value->text);
		if (name == INDEX_NONE || !MODEL_PUSH(&file->instructions, name))
			return -ENOMEM;
	}
	return 0;
}

static void name_tasks(struct rocprof *file)
{
	for (uint32_t i = 0; i < file->rocm.tasks.count; i++) {
		struct rocm_task *task = &file->rocm.tasks.row[i];
		uint32_t name = map_get(&file->kernels, file->kernel_of.row[i]);

		if (!file->kernel_of.row[i] || name == MAP_NONE)
			continue;
		task->name = name;
		task->kind = rocm_kernel_kind(model_text(file->import->model, name));
	}
}

static int import(struct import *import)
{
	struct rocprof file = { .import = import };
	const struct json_reader reader = { .keys = KEYS,
					    .lists = LISTS,
					    .object = on_object,
					    .scalar = on_scalar,
					    .context = &file,
					    .units = UNITS,
					    .rounded = import_rounded,
					    .rounded_context = import,
					    .place = &import->place };
	uint32_t first_task = import->model->tasks.count;
	char damage[256] = "";
	int err;

	rocm_rows_begin(&file.rocm, import, "rocprofv3", PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME);
	err = json_objects_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err,
				 file.rocm.tasks.count + file.rocm.calls.count +
					 file.rocm.memory.count + file.samples.counts.count,
				 damage);
	if (!err) {
		name_tasks(&file);
		err = rocm_samples_count(&file.samples, &file.rocm);
	}
	if (!err)
		err = rocm_finish(&file.rocm);
	if (!err)
		err = rocm_samples_put(&file.samples, import, first_task, file.instructions.row,
				       file.instructions.count);
	rocm_samples_free(&file.samples);
	free(file.instructions.row);
	rocm_rows_free(&file.rocm);
	map_free(&file.kernels);
	map_free(&file.operations);
	free(file.kernel_of.row);
	return err;
}

const struct importer import_rocprof_json = {
	.name = "rocprofv3",
	.what = "a rocprofv3 trace (JSON)",
	.detect = detect,
	.import = import,
};
