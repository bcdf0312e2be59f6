/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: device files, and the sums that they contain. */
#include "analyzer/store/define_table.h"

#define FILE_COLUMNS(COLUMN)                                                                   \
	COLUMN(file, ROW, "file", "this row", cell_u64(at->index))                             \
	COLUMN(path, TEXT, "path", "where it is", cell_string(model, row->path))               \
	COLUMN(format, TEXT, "format", "its detected format", cell_string(model, row->format)) \
	COLUMN(devices, COUNT, "devices", "devices in it", cell_u64(row->devices))             \
	COLUMN(tasks, COUNT, "tasks", "tasks read from it", cell_u64(row->tasks))              \
	COLUMN(calls, COUNT, "calls", "calls read from it", cell_u64(row->calls))

static bool next_file(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->imports);
}

DEFINE_TABLE(device_files, struct imported_file, FILE_COLUMNS, next_file,
	     "a file of another profiler that was read", .keyed = true);

#define FINDING_COLUMNS(COLUMN)                                                 \
	COLUMN(file, ROW, "file", "a row of device_files", cell_u64(row->file)) \
	COLUMN(what, TEXT, "what", "data that were left out or changed",        \
	       cell_string(model, row->what))                                   \
	COLUMN(count, COUNT, "times", "how often", cell_u64(row->count))        \
	COLUMN(example, TEXT, "example", "the first of them", cell_string(model, row->example))

static bool next_finding(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->findings);
}

DEFINE_TABLE(findings, struct import_finding, FINDING_COLUMNS, next_finding,
	     "data in a device file that could not be interpreted");

#define FACT_COLUMNS(COLUMN)                                                                  \
	COLUMN(device, ROW, "device", "a row of devices; NULL: of the whole job",             \
	       cell_index(row->device))                                                       \
	COLUMN(topic, TEXT, "topic", "memory, hbm and so on", cell_string(model, row->topic)) \
	COLUMN(name, TEXT, "name", "of the figure", cell_string(model, row->name))            \
	COLUMN(value, REAL, "value", "the figure; NULL if it is a text",                      \
	       cell_known_real(!row->text, row->value))                                       \
	COLUMN(unit, TEXT, "unit", "of the figure", cell_string(model, row->unit))            \
	COLUMN(text, TEXT, "text", "the text, if it is not a figure", cell_string(model,      \
	       row->text))                                                                    \
	COLUMN(file, ROW, "file", "a row of device_files", cell_u64(row->file))

static bool next_fact(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->device_facts);
}

DEFINE_TABLE(device_facts, struct device_fact, FACT_COLUMNS, next_fact,
	     "a figure or text of a device file about a device or the whole job");

#define SUM_COLUMNS(COLUMN)                                                         \
	COLUMN(device, ROW, "device", "a row of devices; NULL: not in the file",    \
	       cell_index(row->device))                                             \
	COLUMN(name, TEXT, "name", "the operator; NULL: all of a type",             \
	       cell_string(model, row->name))                                       \
	COLUMN(type, TEXT, "type", "its type", cell_string(model, row->type))       \
	COLUMN(core, TEXT, "core", "what ran it", cell_string(model, row->core))    \
	COLUMN(count, COUNT, "count", "how often it ran", cell_u64(row->count))     \
	COLUMN(total_ns, NS, "total", "time on the device", cell_id(row->total_ns)) \
	COLUMN(min_ns, SHORT_NS, "min", "the shortest", cell_id(row->min_ns))       \
	COLUMN(max_ns, SHORT_NS, "max", "the longest", cell_id(row->max_ns))        \
	COLUMN(file, ROW, "file", "a row of device_files", cell_u64(row->file))     \
	COLUMN(input_shapes, TEXT, "input shapes", "NULL: of any shape",            \
	       cell_string(model, row->shapes))                                     \
	COLUMN(self_ns, NS, "device self",                                          \
	       "time on the device, without tasks of operators that it called",     \
	       cell_id(row->self_ns))                                               \
	COLUMN(host_ns, NS, "host", "time on the host", cell_id(row->host_ns))      \
	COLUMN(host_self_ns, NS, "host self",                                       \
	       "time on the host, without operators that it called", cell_id(row->host_self_ns))

static bool next_sum(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->operator_sums);
}

DEFINE_TABLE(operator_sums, struct operator_sum, SUM_COLUMNS, next_sum,
	     "times of an operator or type that a device file has summed up");

#define FUSED_COLUMNS(COLUMN)                                                                     \
	COLUMN(name, TEXT, "fused operator", "the fused operator", cell_string(model, row->name)) \
	COLUMN(originals, TEXT, "original operators", "operators, with semicolons between",       \
	       cell_string(model, row->originals))                                                \
	COLUMN(count, COUNT, "of", "number of these", cell_u64(row->count))                       \
	COLUMN(model, TEXT, "model", "name of the graph", cell_string(model, row->model))         \
	COLUMN(model_id, NUMBER, "model id", "number of the graph", cell_id(row->model_id))       \
	COLUMN(input_bytes, BYTES, "inputs", "size of its inputs", cell_id(row->input_bytes))     \
	COLUMN(output_bytes, BYTES, "outputs", "size of its outputs", cell_id(row->output_bytes)) \
	COLUMN(weight_bytes, BYTES, "weights", "size of its weights", cell_id(row->weight_bytes)) \
	COLUMN(workspace_bytes, BYTES, "workspace", "size of its workspace",                      \
	       cell_id(row->workspace_bytes))                                                     \
	COLUMN(total_bytes, BYTES, "total", "all of these", cell_id(row->total_bytes))            \
	COLUMN(file, ROW, "file", "a row of device_files", cell_u64(row->file))

static bool next_fused(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->fused_operators);
}

DEFINE_TABLE(fused_operators, struct fused_operator, FUSED_COLUMNS, next_fused,
	     "operators that were fused into one when a graph was compiled");

#define TOLD_COLUMNS(COLUMN)                                                               \
	COLUMN(device, ROW, "device", "a row of devices; NULL: of the whole job",          \
	       cell_index(row->device))                                                    \
	COLUMN(topic, TEXT, "topic", "as the file has it", cell_string(model, row->topic)) \
	COLUMN(part, TEXT, "part", "of the topic", cell_string(model, row->part))          \
	COLUMN(advice, TEXT, "advice", "the advice", cell_string(model, row->text))        \
	COLUMN(about, TEXT, "about", "operators, with semicolons between",                 \
	       cell_string(model, row->subjects))                                          \
	COLUMN(count, COUNT, "count", "number of these", cell_u64(row->count))             \
	COLUMN(file, ROW, "file", "a row of device_files", cell_u64(row->file))

static bool next_told(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->told_advice);
}

DEFINE_TABLE(told_advice, struct told_advice, TOLD_COLUMNS, next_told,
	     "an advice of another profiler");

#define CLUSTER_STEP_COLUMNS(COLUMN)                                                               \
	COLUMN(device, ROW, "device", "a row of devices", cell_index(row->device))                 \
	COLUMN(number, NUMBER, "step", "counted from 1", cell_u64(row->number))                    \
	COLUMN(gap_ns, NS, "gap", "time before the step", cell_id(row->gap_ns))                    \
	COLUMN(computation_ns, NS, "computation", "without communication alone",                   \
	       cell_id(row->computation_ns))                                                       \
	COLUMN(communication_ns, NS, "communication", "communication alone",                       \
	       cell_id(row->communication_ns))                                                     \
	COLUMN(stage_ns, NS, "stage", "without waiting for another stage", cell_id(row->stage_ns)) \
	COLUMN(receive_ns, NS, "receive", "waiting for another stage alone",                       \
	       cell_id(row->receive_ns))                                                           \
	COLUMN(collective_ns, NS, "collectives", "other communication alone",                      \
	       cell_id(row->collective_ns))

static bool next_cluster_step(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->cluster_steps);
}

DEFINE_TABLE(cluster_steps, struct cluster_step, CLUSTER_STEP_COLUMNS, next_cluster_step,
	     "a step of a rank as a device file divides it to compare ranks");
