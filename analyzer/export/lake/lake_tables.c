/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a lake. */
#include "analyzer/analyse/idle/idle.h"
#include "analyzer/export/lake/lake_rows.h"
#include "analyzer/store/define_table.h"
#include "lib/trace/clocks.h"

/* These tables are not in all_tables.h: the analyzer's tables of the same names are different. */
#define LAKE_TABLE(id, row_type, COLUMNS, next_row, table_meaning) \
	DESCRIBE_TABLE(id, row_type, COLUMNS)                      \
	static const struct data_table id =                        \
		TABLE_INITIAL(id, next_row, table_meaning, .keyed = false)

#define LAKE ((const struct lake_data *)at->of)

/* Converts an instant of the model to the host's own wall clock; files without a trace use it already. */
static struct cell real_time(const struct table_cursor *at, uint32_t device, uint64_t ns)
{
	const struct model *model = at->of->model;
	uint64_t realtime_ns;

	if (model->devices.row[device].own_clock)
		return cell_u64(ns);
	if (clock_table_from_monotonic(model->clocks, CLOCK_KIND_REALTIME, ns, &realtime_ns))
		return cell_none();
	return cell_u64(realtime_ns);
}

#define STEP(step) cell_known((step) != LAKE_NO_STEP, step)

#define STEP_COLUMNS(COLUMN)                                                                       \
	COLUMN(rank, NUMBER, "rank", "of the job", cell_u64(row->rank))                            \
	COLUMN(host, TEXT, "host", "where it runs", cell_string(model, LAKE->host))                \
	COLUMN(step, NUMBER, "step", "as its source counts", cell_u64(row->step))                  \
	COLUMN(start_ns, INSTANT, "start", "begin, CLOCK_REALTIME of the host",                    \
	       real_time(at, row->device, row->start_ns))                                          \
	COLUMN(step_ns, NS, "step", "its length", cell_u64(row->end_ns - row->start_ns))           \
	COLUMN(compute_ns, NS, "compute",                                                          \
	       "time in which a kernel ran; NULL where the file tells work as a whole, not kernels", \
	       cell_known(row->has_work, row->compute_ns))                                         \
	COLUMN(communication_ns, NS, "communication", "time in which a collective ran",            \
	       cell_u64(row->communication_ns))                                                    \
	COLUMN(exposed_communication_ns, NS, "exposed", "of it, without a kernel meanwhile",       \
	       cell_known(row->has_work, row->exposed_ns))                                         \
	COLUMN(idle_ns, NS, "idle", "without any task",                                            \
	       cell_known(row->has_work, row->idle_ns))                                            \
	COLUMN(host_cpu_ns, NS, "host CPU", "CPU time of the rank's process",                      \
	       cell_known(row->has_cpu, row->cpu_ns))

static bool next_step(struct table_cursor *at)
{
	return CURSOR_ROWS(at, LAKE->rows->steps);
}

LAKE_TABLE(steps, struct lake_step, STEP_COLUMNS, next_step, "a step of a rank");

#define COLLECTIVE_COLUMNS(COLUMN)                                                                 \
	COLUMN(rank, NUMBER, "rank", "of the job", cell_u64(row->rank))                            \
	COLUMN(step, NUMBER, "step", "in which it begins", STEP(row->step))                        \
	COLUMN(sequence, NUMBER, "sequence", "of its communicator in the step, from 0",            \
	       cell_u64(row->sequence))                                                            \
	COLUMN(communicator, TEXT, "communicator",                                                 \
	       "who takes part, as the file calls it; NULL where it does not tell",                \
	       cell_string(model, row->communicator))                                              \
	COLUMN(op, TEXT, "op", "what it does", cell_string(model, row->op))                        \
	COLUMN(bytes, BYTES, "bytes", "that it moves", cell_not_0(row->bytes))                     \
	COLUMN(start_ns, INSTANT, "start", "begin, CLOCK_REALTIME of the host",                    \
	       real_time(at, row->device, row->start_ns))                                          \
	COLUMN(end_ns, INSTANT, "end", "end, the same", real_time(at, row->device, row->end_ns))

static bool next_collective(struct table_cursor *at)
{
	return CURSOR_ROWS(at, LAKE->rows->collectives);
}

LAKE_TABLE(collectives, struct lake_collective, COLLECTIVE_COLUMNS, next_collective,
	     "a collective, or a transfer between two ranks, on one of its ranks");

#define IDLE_COLUMNS(COLUMN)                                                                      \
	COLUMN(rank, NUMBER, "rank", "of the job", cell_u64(row->rank))                           \
	COLUMN(step, NUMBER, "step", "in which the gap begins", STEP(row->step))                  \
	COLUMN(cause, TEXT, "cause", "what was at the end of the waiting",                        \
	       cell_text(idle_cause_name(row->cause)))                                            \
	COLUMN(who, TEXT, "who", "by whom", cell_string(model, row->who))                         \
	COLUMN(ns, NS, "time", "idle time of the rank's device that leads there", cell_u64(row->ns))

static bool next_idle(struct table_cursor *at)
{
	return CURSOR_ROWS(at, LAKE->rows->idle);
}

LAKE_TABLE(idle, struct lake_idle, IDLE_COLUMNS, next_idle,
	     "idle time of a rank's device in a step, by who is at the end of all waiting");

#define PIPELINE_COLUMNS(COLUMN)                                                           \
	COLUMN(rank, NUMBER, "rank", "of the job", cell_u64(row->rank))                    \
	COLUMN(step, NUMBER, "step", "in which the time lies", cell_u64(row->step))        \
	COLUMN(pipeline, NUMBER, "pipeline", "which of the rank's process, from 1",        \
	       cell_u64(row->pipeline))                                                    \
	COLUMN(operator, TEXT, "operator", "what it is called", cell_string(model, row->name)) \
	COLUMN(busy_ns, NS, "busy", "CPU time of its threads and worker processes; NULL where they are not known", \
	       cell_known(row->has_busy, row->busy_ns))                                    \
	COLUMN(wait_ns, NS, "wait",                                                        \
	       "time inside the calls that took from its queue, waits for it included; NULL where it has none that is known", \
	       cell_known(row->has_wait, row->wait_ns))

static bool next_pipeline(struct table_cursor *at)
{
	return CURSOR_ROWS(at, LAKE->rows->pipeline);
}

LAKE_TABLE(pipeline, struct lake_pipeline, PIPELINE_COLUMNS, next_pipeline,
	     "an operator of a rank's data pipeline in a step in which it did something");

#define OPERATOR_COLUMNS(COLUMN)                                                           \
	COLUMN(rank, NUMBER, "rank", "of the job", cell_u64(row->rank))                    \
	COLUMN(step, NUMBER, "step", "in which its tasks begin", STEP(row->step))          \
	COLUMN(name, TEXT, "name", "of the operator", cell_string(model, row->name))       \
	COLUMN(count, COUNT, "count", "its tasks", cell_u64(row->count))                   \
	COLUMN(total_ns, NS, "total", "sum of their times", cell_u64(row->total_ns))

static bool next_operator(struct table_cursor *at)
{
	return CURSOR_ROWS(at, LAKE->rows->operators);
}

LAKE_TABLE(operators, struct lake_operator, OPERATOR_COLUMNS, next_operator,
	     "an operator of a rank in a step");

#define DEVICE (&model->devices.row[row->device])

#define RANK_COLUMNS(COLUMN)                                                                   \
	COLUMN(rank, NUMBER, "rank", "of the job", cell_u64(row->rank))                        \
	COLUMN(host, TEXT, "host", "where it runs", cell_string(model, LAKE->host))            \
	COLUMN(kernel, TEXT, "kernel", "of the host", cell_string(model, model->info.kernel))  \
	COLUMN(cpus, COUNT, "CPUs", "of the host", cell_not_0(model->info.cpus))               \
	COLUMN(device, TEXT, "device", "what it is called", cell_string(model, DEVICE->name))

static bool next_rank(struct table_cursor *at)
{
	return CURSOR_ROWS(at, LAKE->rows->ranks);
}

LAKE_TABLE(hosts, struct lake_rank, RANK_COLUMNS, next_rank, "a rank, and where it runs");

const struct data_table *const lake_tables[] = { &steps, &collectives, &idle, &pipeline, &operators, &hosts, NULL };
