/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV files of ROCm's profilers: a table for each kind of rocprofv3 (RUN_kernel_trace.csv,
 * RUN_memory_copy_trace.csv, RUN_memory_allocation_trace.csv, RUN_hip_api_trace.csv, RUN_agent_info.csv, ...), and
 * the single table of kernels of rocprof v1 and v2.
 *
 * RUN_marker_api_trace.csv has the ranges of ROCTX, with their texts. With a kernel trace the other tables of the
 * same run beside it are imported, too; they have the names of agents, and the calls, joined by Correlation_Id.
 * pmc_perf.csv of ROCm's Compute Profiler is like the tables of v1 or, of rocpd, like a counter_collection. Agents
 * are numbers, or "Agent 4" with the node's number. Times are nanoseconds: of CLOCK_BOOTTIME since v3; the earlier
 * clock is not documented. v1 also has the time of a kernel's dispatch (DispatchNs). RUN_counter_collection.csv has
 * a row for each counter of each kernel.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/import/amd/rocprof_csv.h"
#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/amd/rocm_rows.h"
#include "analyzer/import/amd/rocm_samples.h"

#define ROCM_TRACK_RANGES 100 /* the kind of tracks of ranges */
#define KERNEL_TRACE "kernel_trace.csv"

enum column {
	C_KERNEL,
	C_FUNCTION,
	C_DIRECTION,
	C_AGENT,
	C_FROM,
	C_TO,
	C_QUEUE,
	C_STREAM,
	C_PROCESS,
	C_THREAD,
	C_CORRELATION,
	C_DISPATCH,
	C_START,
	C_END,
	C_DOMAIN,
	C_AGENT_TYPE,
	C_NODE,
	C_NUMBER,
	C_PRODUCT,
	C_MODEL,
	C_NAME,
	C_OPERATION,
	C_SIZE,
	C_ADDRESS,
	C_ALLOC_FLAGS,
	C_DISPATCH_ID,
	C_COUNTER,
	C_VALUE,
	C_INSTRUCTION,
	C_ISSUED,
	C_STALL,
	COLUMNS
};

static const char *const NAMES[] = {
	"Kernel_Name|KernelName",
	"Function",
	"Direction",
	"Agent_Id|GPU_ID|gpu-id",
	"Source_Agent_Id",
	"Destination_Agent_Id",
	"Queue_Id|Queue_ID|queue-id",
	"Stream_Id",
	"Process_Id|PID|pid",
	"Thread_Id|TID|tid",
	"Correlation_Id|Correlation_ID",
	"DispatchNs",
	"Start_Timestamp|BeginNs",
	"End_Timestamp|EndNs",
	"Domain|Kind",
	"Agent_Type",
	"Node_Id",
	"Logical_Node_Type_Id",
	"Product_Name",
	"Model_Name",
	"Name",
	"Operation",
	"Allocation_Size",
	"Address",
	"Alloc_Flags",
	"Dispatch_Id|Dispatch_ID",
	"Counter_Name",
	"Counter_Value",
	"Instruction",
	"Wave_Issued_Instruction",
	"Stall_Reason",
	NULL,
};

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

static const uint8_t UNITS[COLUMNS] = {
	[C_DISPATCH] = DECIMAL_NS, [C_START] = DECIMAL_NS, [C_END] = DECIMAL_NS,
};

struct table {
	struct import *import;
	struct rocm_rows rocm;
	uint32_t pid; /* for rows without a pid */
	bool is_agents;
	bool is_samples;
	uint64_t ranges;
	struct rocm_samples samples;
	struct map dispatches; /* tables of counters: number (with process and start) -> row of tasks */
};

static int detect(const struct import_sample *sample)
{
	static const char *const TIMED[] = { "Start_Timestamp|BeginNs", "End_Timestamp|EndNs",
					     NULL };
	static const char *const SAMPLED[] = { "Sample_Timestamp", "Dispatch_Id", "Instruction",
					       NULL };
	static const char *const NAMED[][2] = { { "Kernel_Name|KernelName", NULL },
						{ "Function", NULL },
						{ "Direction", NULL },
						{ "Allocation_Size", NULL },
						{ "Alloc_Flags", NULL } };

	if (!sample->directory && csv_has_columns(sample->text, SAMPLED))
		return 80;
	if (sample->directory || !csv_has_columns(sample->text, TIMED))
		return 0;
	for (size_t i = 0; i < sizeof(NAMED) / sizeof(NAMED[0]); i++) {
		if (csv_has_columns(sample->text, NAMED[i]))
			return 80;
	}
	return 0;
}

static const char *text_of(const struct csv_value *value)
{
	return value->text ? value->text : "";
}

static uint64_t number_of(const struct csv_value *value)
{
	uint64_t number = 0;

	if (value->text && !decimal_unsigned(value->text, value->length, &number))
		number = 0;
	return number;
}

/* An instant; 0 if the text is none. ROCm's Compute Profiler writes means of several runs, with a fraction. */
static uint64_t instant_of(const struct csv_value *value)
{
	int64_t ns;

	if (!value->text || !decimal_scaled(value->text, value->length, 0, &ns) || ns < 0)
		return 0;
	return (uint64_t)ns;
}

/* The number of an agent, "4" or "Agent 4". */
static uint64_t agent_of(const struct csv_value *value)
{
	const char *text = text_of(value);
	uint64_t number = 0;

	if (strncmp(text, "Agent ", 6) == 0)
		text += 6;
	return decimal_unsigned(text, strlen(text), &number) ? number : UINT64_MAX;
}

static int on_agent(struct table *table, const struct csv_value *values)
{
	static const enum column TEXTS[] = { C_PRODUCT, C_MODEL, C_NAME };
	struct rocm_agent agent = { .number = UINT64_MAX,
				    .gpu = strcmp(text_of(&values[C_AGENT_TYPE]), "GPU") == 0 };

	for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]) && !agent.name; i++)
		agent.name = model_string(table->import->model, values[TEXTS[i]].text);
	if (agent.name == INDEX_NONE)
		return -ENOMEM;
	if (values[C_NUMBER].text)
		agent.number = number_of(&values[C_NUMBER]);
	return rocm_agent(&table->rocm, agent_of(&values[C_NODE]), &agent);
}

static uint32_t pid_of(const struct table *table, const struct csv_value *values)
{
	uint64_t pid = number_of(&values[C_PROCESS]);

	return pid && pid <= UINT32_MAX ? (uint32_t)pid : table->pid;
}

static int on_task(struct table *table, const struct csv_value *values)
{
	bool copy = values[C_DIRECTION].text;
	const char *name = text_of(&values[copy ? C_DIRECTION : C_KERNEL]);
	struct rocm_task task = {
		.start_ns = instant_of(&values[C_START]),
		.end_ns = instant_of(&values[C_END]),
		.dispatch_ns = number_of(&values[C_DISPATCH]),
		.correlation = number_of(&values[C_CORRELATION]),
		.agent = agent_of(&values[C_AGENT]),
		.queue = copy ? UINT32_MAX : number_of(&values[C_QUEUE]),
		.stream = number_of(&values[C_STREAM]),
		.tid = number_of(&values[C_THREAD]),
		.pid = pid_of(table, values),
		.name = model_string(table->import->model, name),
		.kind = copy ? PROFBPF__DEVICE_TASKS__KIND__COPY : rocm_kernel_kind(name),
	};
	uint64_t to = agent_of(&values[C_TO]), from = agent_of(&values[C_FROM]);
	uint32_t before = table->rocm.tasks.count;
	int err;

	if (task.name == INDEX_NONE)
		return -ENOMEM;
	/* A copy to the host belongs to its GPU; without a table of agents the name has the direction. */
	if (copy)
		task.agent = rocm_is_cpu(&table->rocm, to) || strstr(name, "DEVICE_TO_HOST") ? from
											     : to;
	err = rocm_task(&table->rocm, &task);
	if (err || table->rocm.tasks.count == before || !values[C_DISPATCH_ID].text)
		return err;
	return rocm_samples_kernel(&table->samples, number_of(&values[C_DISPATCH_ID]), before);
}

/* Counts a sample of a wave's program counter. */
static int on_sample(struct table *table, const struct csv_value *values)
{
	uint32_t instruction = model_string(table->import->model, text_of(&values[C_INSTRUCTION]));
	bool stalled = values[C_ISSUED].text && number_of(&values[C_ISSUED]) == 0;

	return instruction == INDEX_NONE
		       ? -ENOMEM
		       : rocm_sample(&table->samples, table->import->model,
				     number_of(&values[C_DISPATCH_ID]), instruction,
				     stalled ? values[C_STALL].text : NULL);
}

/*
 * There is a row for each counter of a dispatch. Rows with the same times are the same kernel; other runs of the
 * program have other times.
 */
static int on_counter(struct table *table, const struct csv_value *values)
{
	uint64_t key = (number_of(&values[C_DISPATCH_ID]) << 32 | pid_of(table, values)) ^
		       instant_of(&values[C_START]) * 0x9e3779b97f4a7c15u;
	uint32_t row = map_get(&table->dispatches, key), before = table->rocm.tasks.count;
	struct rocm_counter counter = {
		.name = model_string(table->import->model, values[C_COUNTER].text)
	};
	char *end;
	int err = 0;

	if (row == MAP_NONE) {
		err = on_task(table, values);
		if (err || table->rocm.tasks.count == before)
			return err;
		row = before;
		err = map_put(&table->dispatches, key, row) ? 0 : -ENOMEM;
	}
	counter.task = row;
	counter.value = strtod(text_of(&values[C_VALUE]), &end);
	if (counter.name == INDEX_NONE || err)
		return -ENOMEM;
	if (end == text_of(&values[C_VALUE]) || !isfinite(counter.value))
		return import_finding(table->import, "counters that are no number: left out (if the table "
						     "was edited, export it again)",
				      values[C_COUNTER].text);
	return MODEL_PUSH(&table->rocm.counters, counter) ? 0 : -ENOMEM;
}

/* Adds a range of roctxRangePush() and similar functions, by its text. */
static int on_range(struct table *table, const struct rocm_call *call)
{
	struct import_rows *rows = &table->rocm.rows;
	const char *name = model_text(table->import->model, call->name);
	int err;

	if (call->name == INDEX_NONE)
		return -ENOMEM;
	if (!call->start_ns || call->end_ns < call->start_ns)
		return import_finding(table->import, "ranges without usable times: start or duration is "
						     "missing or no number (if there are many, the profiler "
						     "lost events: record less at a time)", name);
	err = import_track(table->import, &table->rocm.tracks, ROCM_TRACK_RANGES, call->pid, call->tid);
	if (err || !table->import->alone)
		return err;
	table->ranges++;
	return import_scope(rows, import_thread(rows, call->pid, call->tid, call->start_ns), name,
			    scope_of_range(name), call->start_ns, call->end_ns);
}

static int on_call(struct table *table, const struct csv_value *values)
{
	const char *domain = text_of(&values[C_DOMAIN]);
	const char *runtime = strncmp(domain, "HSA", 3) == 0	? "hsa"
			      : strncmp(domain, "RCCL", 4) == 0 ? "rccl"
								: "hip";
	struct rocm_call call = {
		.start_ns = number_of(&values[C_START]),
		.end_ns = number_of(&values[C_END]),
		.correlation = number_of(&values[C_CORRELATION]),
		.tid = number_of(&values[C_THREAD]),
		.pid = pid_of(table, values),
		.name = model_string(table->import->model, text_of(&values[C_FUNCTION])),
		.runtime = model_string(table->import->model, runtime),
	};

	/* Ranges of the program are no calls; neither are calls that pause the profiler. */
	if (strncmp(domain, "MARKER_CORE", 11) == 0)
		return on_range(table, &call);
	if (strncmp(domain, "MARKER", 6) == 0)
		return 0;
	if (call.name == INDEX_NONE || call.runtime == INDEX_NONE)
		return -ENOMEM;
	return rocm_call(&table->rocm, &call);
}

static int on_memory(struct table *table, const struct csv_value *values)
{
	struct rocm_memory memory = { .start_ns = number_of(&values[C_START]),
				      .end_ns = number_of(&values[C_END]),
				      .agent = agent_of(&values[C_AGENT]),
				      .bytes = number_of(&values[C_SIZE]),
				      .pid = pid_of(table, values) };

	if (!rocm_memory_operation(&table->rocm, text_of(&values[C_OPERATION]), &memory))
		return import_finding(table->import, "memory operations of no known sort: a newer profiler "
						     "may have written them; the others count",
				      values[C_OPERATION].text);
	if (memory.level == INDEX_NONE)
		return -ENOMEM;
	memory.place = number_of(&values[memory.scratch ? C_QUEUE : C_ADDRESS]);
	return rocm_memory(&table->rocm, &memory);
}

static int on_header(void *context, const bool *found)
{
	struct table *table = context;

	table->is_agents = found[C_AGENT_TYPE];
	table->is_samples = found[C_INSTRUCTION] && found[C_DISPATCH_ID];
	return 0;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct table *table = context;

	if (table->is_agents)
		return on_agent(table, values);
	if (table->is_samples)
		return on_sample(table, values);
	if (!values[C_START].text || !values[C_END].text)
		return import_finding(table->import, "rows without times", NULL);
	if (values[C_OPERATION].text)
		return on_memory(table, values);
	if (values[C_COUNTER].text && values[C_DISPATCH_ID].text)
		return on_counter(table, values);
	return values[C_FUNCTION].text ? on_call(table, values) : on_task(table, values);
}

static int read_table(struct table *table, const char *path)
{
	const struct csv_reader reader = {
		.columns = NAMES,	     .header = on_header,
		.row = on_row,		     .context = table,
		.units = UNITS,		     .rounded = import_rounded,
		.rounded_context = table->import,
		.place = &table->import->place
	};
	char damage[256] = "";
	int err = csv_table_read(path, &reader, damage, sizeof(damage));

	return import_end_reading(table->import, err,
				  table->rocm.tasks.count + table->rocm.calls.count +
					  table->rocm.memory.count + table->ranges +
					  table->samples.counts.count > 0,
				  damage);
}

/* Length of the path's part that all tables of a run share; 0 if it is no kernel trace of v3. */
static size_t run_length(const char *path)
{
	const char *end = strstr(path, KERNEL_TRACE), *next;

	while (end && (next = strstr(end + 1, KERNEL_TRACE)))
		end = next;
	return end && (end[strlen(KERNEL_TRACE)] == '\0' || !strcmp(end, KERNEL_TRACE ".gz"))
		       ? (size_t)(end - path)
		       : 0;
}

/* The pid in a run's name, which the user may have replaced. */
static uint32_t pid_of_run(const char *path, size_t run)
{
	size_t start = run;
	uint64_t pid;

	if (!run || path[run - 1] != '_')
		return 0;
	for (start = run - 1; start && path[start - 1] >= '0' && path[start - 1] <= '9';)
		start--;
	if (!decimal_unsigned(path + start, run - 1 - start, &pid) || pid > UINT32_MAX)
		return 0;
	return (uint32_t)pid;
}

static const char *const SIBLINGS[] = { "agent_info.csv",
					"memory_copy_trace.csv",
					"hip_api_trace.csv",
					"hip_runtime_trace.csv",
					"hip_runtime_api_trace.csv",
					"rccl_api_trace.csv",
					"hsa_api_trace.csv",
					"memory_allocation_trace.csv",
					"marker_api_trace.csv",
					"scratch_memory_trace.csv",
					"pc_sampling_host_trap.csv",
					"pc_sampling_stochastic.csv" };

bool rocprof_csv_reads(const char *kernels, const char *name)
{
	size_t run = run_length(kernels), i = 0;

	if (!run && strcmp(kernels, KERNEL_TRACE) != 0 && strcmp(kernels, KERNEL_TRACE ".gz") != 0)
		return false;
	if (strncmp(kernels, name, run) != 0)
		return false;
	while (i < sizeof(SIBLINGS) / sizeof(SIBLINGS[0]) && strcmp(name + run, SIBLINGS[i]) != 0)
		i++;
	return i < sizeof(SIBLINGS) / sizeof(SIBLINGS[0]);
}

/* Called before the kernels are read, because these tables say which agents are GPUs. */
static int read_siblings(struct table *table, size_t run)
{
	char path[PATH_MAX];
	int err = 0;

	for (size_t i = 0; run && i < sizeof(SIBLINGS) / sizeof(SIBLINGS[0]) && !err; i++) {
		if (snprintf(path, sizeof(path), "%.*s%s", (int)run, table->import->path,
			     SIBLINGS[i]) < (int)sizeof(path) &&
		    access(path, R_OK) == 0)
			err = read_table(table, path);
	}
	return err;
}

/* v3 documents CLOCK_BOOTTIME; the clock of its predecessors is not documented. */
static uint8_t clock_of(const char *path, size_t run)
{
	return run || strstr(path, "_trace.csv") ? PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME
						 : PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED;
}

static int import(struct import *import)
{
	size_t run = run_length(import->path);
	struct table table = { .import = import, .pid = pid_of_run(import->path, run) };
	uint32_t first_task = import->model->tasks.count;
	int err;

	rocm_rows_begin(&table.rocm, import, "rocprof", clock_of(import->path, run));
	err = read_siblings(&table, run);
	if (!err)
		err = read_table(&table, import->path);
	if (!err)
		err = rocm_samples_count(&table.samples, &table.rocm);
	if (!err)
		err = rocm_finish(&table.rocm);
	if (!err)
		err = rocm_samples_put(&table.samples, import, first_task, NULL, 0);
	rocm_samples_free(&table.samples);
	rocm_rows_free(&table.rocm);
	map_free(&table.dispatches);
	return err;
}

const struct importer import_rocprof_csv = {
	.name = "rocprof",
	.what = "a table of ROCm's profilers (rocprofv3 *_kernel_trace.csv, rocprof)",
	.detect = detect,
	.import = import,
};
