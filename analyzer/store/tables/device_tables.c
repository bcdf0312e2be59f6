/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: work of devices, by device, stream and operator. */
#include "analyzer/analyse/device/results.h"
#include "analyzer/store/define_table.h"

#define USAGE_KNOWN (row->window_ns > 0)

#define USAGE_COLUMNS(COLUMN)                                                                  \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))               \
	COLUMN(tasks, COUNT, "tasks", "all of its tasks", cell_u64(row->tasks))                \
	COLUMN(tasks_untimed, COUNT, "untimed", "tasks without usable times",                  \
	       cell_u64(row->untimed))                                                         \
	COLUMN(tasks_sync, COUNT, "sync", "synchronization tasks: not in busy_ns",             \
	       cell_u64(row->sync_tasks))                                                      \
	COLUMN(start_ns, INSTANT, "start", "begin of the time looked at",                      \
	       cell_known(USAGE_KNOWN, row->window_start_ns))                                  \
	COLUMN(window_ns, NS, "window", "its length", cell_known(USAGE_KNOWN, row->window_ns)) \
	COLUMN(busy_ns, NS, "busy", "time in which any task ran",                              \
	       cell_known(device_busy_known(model, row), row->busy_ns))                        \
	COLUMN(idle_ns, NS, "idle", "time in which none ran",                                  \
	       cell_known(USAGE_KNOWN, row->idle_ns))                                          \
	COLUMN(gaps, COUNT, "gaps", "times without a task",                                    \
	       cell_known(USAGE_KNOWN, row->gap_count))                                        \
	COLUMN(compute_ns, NS, "compute", "time in which a kernel ran",                        \
	       cell_known(device_busy_known(model, row), row->compute_ns))                     \
	COLUMN(communication_ns, NS, "communication", "time in which a collective ran",        \
	       cell_known(USAGE_KNOWN, row->communication_ns))                                 \
	COLUMN(communication_not_overlapped_ns, NS, "exposed communication",                   \
	       "the part of it without a kernel at the same time",                             \
	       cell_known(USAGE_KNOWN, row->communication_not_overlapped_ns))                  \
	COLUMN(copy_ns, NS, "copies", "time in which a copy ran",                              \
	       cell_known(USAGE_KNOWN, row->copy_ns))                                          \
	COLUMN(free_ns, NS, "free",                                                            \
	       "between the first and the last kernel or collective, time without either",     \
	       cell_known(row->has_free, row->free_ns))

static bool next_usage(struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	return devices &&
	       cursor_rows(at, devices->devices, devices->device_count, sizeof(*devices->devices));
}

DEFINE_TABLE(device_usage, struct device_usage, USAGE_COLUMNS, next_usage,
	     "what a device did in the analysed time",
	     .sections = SECTION_DEVICES);

#define STREAM_COLUMNS(COLUMN)                                                                \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(at->index))                \
	COLUMN(stream, NUMBER, "stream", "the stream; NULL: tasks of none", cell_id(row->id)) \
	COLUMN(tasks, COUNT, "tasks", "its tasks", cell_u64(row->tasks))                      \
	COLUMN(busy_ns, NS, "busy", "time in which any of them ran",                          \
	       cell_known(!model->devices.row[at->index].whole, row->busy_ns))                \
	COLUMN(first_start_ns, INSTANT, "first start", "begin of its first task",             \
	       cell_known(row->last_end_ns, row->first_start_ns))                             \
	COLUMN(last_end_ns, INSTANT, "last end", "end of its last task",                      \
	       cell_not_0(row->last_end_ns))

static bool next_stream(struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	if (!devices)
		return false;
	CURSOR_OUTER(at, devices->device_count)
	{
		const struct device_usage *device = &devices->devices[at->i];

		if (cursor_inner(at, device, device->streams, device->stream_count,
				 sizeof(*device->streams)))
			return true;
	}
	return false;
}

DEFINE_TABLE(streams, struct stream_usage, STREAM_COLUMNS, next_stream, "a stream of a device",
	     .keyed = true,
	     .sections = SECTION_DEVICES);

static struct cell flops_rate(const struct operator_usage *row)
{
	double value = 0;
	bool known = operator_flops_rate(&row->figures, &value);

	return cell_known_real(known, value);
}

static struct cell flops_percent(const struct model *model, const struct operator_usage *row)
{
	double value = 0;
	bool known = operator_flops_percent(model, row->device, &row->figures, &value);

	return cell_known_real(known, value);
}

static struct cell bandwidth(const struct operator_usage *row)
{
	double value = 0;
	bool known = operator_bandwidth(&row->figures, &value);

	return cell_known_real(known, value);
}

static struct cell bandwidth_percent(const struct model *model, const struct operator_usage *row)
{
	double value = 0;
	bool known = operator_bandwidth_percent(model, row->device, &row->figures, &value);

	return cell_known_real(known, value);
}

/* Shapes and types, unless its tasks differ in them. */
static struct cell same_text(const struct model *model, uint32_t string)
{
	return string == OPERATOR_SEVERAL ? cell_none() : cell_string(model, string);
}

#define OPERATOR_COLUMNS(COLUMN)                                                                   \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))                   \
	COLUMN(name, TEXT, "name", "of the operator", cell_string(model, row->name))               \
	COLUMN(type, TEXT, "type", "its type, or the kind of its tasks",                           \
	       cell_text(operator_type(model, row)))                                               \
	COLUMN(core, TEXT, "core", "what ran it", cell_text(operator_core_name(row->core)))        \
	COLUMN(count, COUNT, "count", "its tasks", cell_u64(row->count))                           \
	COLUMN(total_ns, NS, "total", "sum of their times", cell_u64(row->total_ns))               \
	COLUMN(min_ns, SHORT_NS, "min", "the shortest", cell_u64(row->min_ns))                     \
	COLUMN(max_ns, SHORT_NS, "max", "the longest", cell_u64(row->max_ns))                      \
	COLUMN(percent, PERCENT, "of device", "of the time of all operators of the device",        \
	       cell_real(row->percent))                                                            \
	COLUMN(flops, REAL, "operations", "floating-point operations of all its tasks",            \
	       cell_known_real(row->figures.counted, row->figures.flops))                          \
	COLUMN(flops_per_second, REAL, "operations/s", "floating-point operations per second",     \
	       flops_rate(row))                                                                    \
	COLUMN(flops_percent, PERCENT, "of peak", "of the operations that the device can do",      \
	       flops_percent(model, row))                                                          \
	COLUMN(bytes, REAL, "moved", "bytes that it read and wrote",                               \
	       cell_known_real(row->figures.moved, row->figures.moved_bytes))                      \
	COLUMN(bytes_per_second, REAL, "bytes/s", "bytes moved per second", bandwidth(row))        \
	COLUMN(bandwidth_percent, PERCENT, "of bandwidth", "of what the device's memory can move", \
	       bandwidth_percent(model, row))                                                      \
	COLUMN(input_shapes, TEXT, "input shapes", "NULL if its tasks differ",                     \
	       same_text(model, row->figures.input_shapes))                                        \
	COLUMN(input_types, TEXT, "input types", "NULL if its tasks differ",                       \
	       same_text(model, row->figures.input_types))                                         \
	COLUMN(output_shapes, TEXT, "output shapes", "NULL if its tasks differ",                   \
	       same_text(model, row->figures.output_shapes))                                       \
	COLUMN(output_types, TEXT, "output types", "NULL if its tasks differ",                     \
	       same_text(model, row->figures.output_types))                                        \
	COLUMN(shape_variants, COUNT, "variants", "different shapes among its tasks",              \
	       cell_known(row->figures.detailed, row->figures.variants))

static bool next_of(struct table_cursor *at, const struct operator_list *list)
{
	return cursor_rows(at, list->rows, list->count, sizeof(*list->rows));
}

static bool next_operator(struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	return devices && next_of(at, &devices->operators);
}

static bool next_type(struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	return devices && next_of(at, &devices->types);
}

static bool next_core(struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	return devices && next_of(at, &devices->cores);
}

DEFINE_TABLE(
	operators, struct operator_usage, OPERATOR_COLUMNS, next_operator,
	"tasks of one operator of a device, most time first; operator_metrics counts its rows",
	     .sections = SECTION_OPERATORS);
DEFINE_TABLE(operator_types, struct operator_usage, OPERATOR_COLUMNS, next_type,
	     "tasks of one type of operators of a device",
	     .sections = SECTION_OPERATORS);
DEFINE_TABLE(operator_cores, struct operator_usage, OPERATOR_COLUMNS, next_core,
	     "tasks that one kind of core of a device ran",
	     .sections = SECTION_OPERATORS);

#define METRIC_COLUMNS(COLUMN)                                                                     \
	COLUMN(operator, ROW, "operator", "the number of a row of operators", cell_u64(at->index)) \
	COLUMN(metric, TEXT, "metric", "the counter's name, as the file has it",                   \
	       cell_string(model, row->name))                                                      \
	COLUMN(tasks, COUNT, "tasks", "tasks that have it", cell_u64(row->tasks))                  \
	COLUMN(mean, REAL, "mean", "mean over these", cell_real(row->mean))

static bool next_metric(struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	if (!devices)
		return false;
	CURSOR_OUTER(at, devices->operators.count)
	{
		const struct operator_usage *op = &devices->operators.rows[at->i];
		const struct operator_metric *metrics = devices->operators.metrics.row;

		while (cursor_part(at, op, metrics, op->figures.first_metric,
				   op->figures.metric_count, sizeof(*metrics))) {
			const struct operator_metric *row = at->row;

			if (row->tasks)
				return true;
		}
	}
	return false;
}

DEFINE_TABLE(operator_metrics, struct operator_metric, METRIC_COLUMNS, next_metric,
	     "the value of one of the device's counters for an operator", .keyed = true,
	     .sections = SECTION_OPERATORS);

#define OVERLAP_COLUMNS(COLUMN)                                                                  \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))                 \
	COLUMN(whole_device, FLAG, "whole", "is it of the whole device, not of one stream?",     \
	       cell_flag(at->outer == row))                                                      \
	COLUMN(stream, NUMBER, "stream", "the stream; NULL: the whole device, or tasks of none", \
	       cell_id(row->stream))                                                             \
	COLUMN(computation_ns, NS, "computation", "time in which a kernel ran",                  \
	       cell_u64(row->computation_ns))                                                    \
	COLUMN(communication_ns, NS, "communication", "time in which a collective ran",          \
	       cell_u64(row->communication_ns))                                                  \
	COLUMN(overlapped_ns, NS, "overlapped", "time in which both ran",                        \
	       cell_u64(row->overlapped_ns))                                                     \
	COLUMN(pure_communication_ns, NS, "pure communication", "collectives without a kernel",  \
	       cell_u64(row->pure_communication_ns))                                             \
	COLUMN(receive_ns, NS, "receive", "the part of these that only waits for another "       \
					  "pipeline stage",                                      \
	       cell_u64(row->receive_ns))                                                        \
	COLUMN(free_ns, NS, "free", "time without either", cell_u64(row->free_ns))               \
	COLUMN(copy_ns, NS, "copies", "time in which a copy ran", cell_u64(row->copy_ns))        \
	COLUMN(pure_copy_ns, NS, "pure copies", "copies without a kernel or collective",         \
	       cell_u64(row->pure_copy_ns))

static bool next_overlap(struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	if (!devices)
		return false;
	CURSOR_OUTER(at, devices->overlap.count)
	{
		const struct overlap_device *device = &devices->overlap.devices[at->i];

		if (!at->m++) {
			at->row = at->outer = &device->all;
			return true;
		}
		if (cursor_inner(at, device, device->streams, device->stream_count,
				 sizeof(*device->streams)))
			return true;
	}
	return false;
}

DEFINE_TABLE(overlap, struct overlap_usage, OVERLAP_COLUMNS, next_overlap,
	     "how computation, communication and copies of a device or stream overlap",
	     .sections = SECTION_OVERLAP);
