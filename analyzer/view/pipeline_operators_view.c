/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/pipeline_operators_view.h"

#include "analyzer/analyse/idle/idle.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/analyse/pipeline/pipeline_series.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"

#define NAME_SIZE 128
#define INDENT_MAX 24

/* The objects at a cursor in the operators table, and in tables inside an operator. */
#define USAGE ((const struct pipeline_usage *)at->outer)
#define PIPELINE (USAGE->pipeline)
#define OPERATOR (&PIPELINE->operators.row[row - USAGE->operators])

/* ---- Tables of one operator: number @m in the pipeline that is the outer row */

static void of_operator(struct table_cursor *at, const struct table_cursor *outer)
{
	const struct pipeline_usage *usage = outer->outer;

	at->outer = usage;
	at->m = (uint64_t)((const struct operator_pipeline_usage *)outer->row - usage->operators);
}

#define PARENT_COLUMNS(COLUMN)                              \
	COLUMN(id, STATUS, "id", "whom it hands elements to", \
	       cell_i64(PIPELINE->operators.row[row->to].id))

static bool next_parent(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, PIPELINE->edges))
		if (((const struct pipeline_edge *)at->row)->from == at->m)
			return true;
	return false;
}

DEFINE_FIGURES(parents, struct pipeline_edge, PARENT_COLUMNS, next_parent);

static const struct view PARENTS = { "parents",	 NULL,	    &parents,
				     .shape = VIEW_LIST, .within = of_operator };

static const char *role_name(uint8_t role)
{
	switch (role) {
	case PIPELINE_WORKER: return "worker";
	case PIPELINE_COLLECTOR: return "collector";
	case PIPELINE_WORKER_PROCESS: return "worker process";
	case PIPELINE_HELPER: return "helper";
	default: return "main";
	}
}

#define THREAD_COLUMNS(COLUMN)                                                               \
	COLUMN(thread, ROW, "thread", "a row of threads", cell_index(row->thread))           \
	COLUMN(role, TEXT, "role", "what it does for the operator",                          \
	       cell_text(role_name(row->role)))                                              \
	COLUMN(descendant, FLAG, "descendant", "is not among those that the framework counts", \
	       cell_flag(row->descendant))

static bool next_thread(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, PIPELINE->threads))
		if (((const struct pipeline_thread *)at->row)->op == at->m)
			return true;
	return false;
}

DEFINE_FIGURES(operator_threads, struct pipeline_thread, THREAD_COLUMNS, next_thread);

static const struct view_column THREAD_SHOWN[] = {
	{ "thread.tid" }, { "thread.process.pid" }, { "role" }, { "descendant" }, { NULL },
};

static const struct view THREADS = { "threads", NULL, &operator_threads, THREAD_SHOWN,
				     .within = of_operator };

/* An interval of the host's series; sizes are unknown before the first push or pop. */
#define INTERVAL (&of->results->host->intervals[at->index])
#define TIME_KNOWN(ns) cell_known(USAGE->operators[at->m].has_times, ns)

#define SERIES_COLUMNS(COLUMN)                                                               \
	COLUMN(start_ns, INSTANT, "start", "begin of the interval",                          \
	       cell_u64(INTERVAL->start_ns))                                                 \
	COLUMN(duration_ns, NS, "duration", "its length",                                    \
	       cell_u64(INTERVAL->end_ns - INTERVAL->start_ns))                              \
	COLUMN(run_ns, NS, "run", "time on a CPU, with descendants", TIME_KNOWN(row->run_ns)) \
	COLUMN(user_ns, NS, "user", "of it, in programs", TIME_KNOWN(row->user_ns))          \
	COLUMN(system_ns, NS, "system", "of it, in the kernel", TIME_KNOWN(row->system_ns))  \
	COLUMN(elements, COUNT, "elements", "elements handed on", cell_u64(row->elements))   \
	COLUMN(queue_size, REAL, "queue", "elements in its output queue, mean over time",    \
	       cell_known_real(row->queue_known_ns, row->queue_size))

static bool next_interval(struct table_cursor *at)
{
	const struct results *results = at->of->results;
	const struct pipeline_series *series;

	if (!results->pipeline_series)
		return false;
	series = &results->pipeline_series[USAGE - results->pipelines->rows];
	return cursor_rows(at, series->cells + at->m * series->interval_count,
			   series->interval_count, sizeof(*series->cells));
}

DEFINE_FIGURES(series, struct operator_interval, SERIES_COLUMNS, next_interval);

static const struct view SERIES = {
	"series", NULL, &series, NULL, VIEW_MATRIX, .within = of_operator, .optional = true
};

/* ---- Operators */

static struct cell does_not_apply(void)
{
	return (struct cell){ .kind = CELL_TEXT, .text = "" };
}

static struct cell label(struct table_cursor *at, const struct operator_pipeline_usage *row)
{
	int indent = row->depth < INDENT_MAX / 2 ? 2 * (int)row->depth : INDENT_MAX;
	char name[NAME_SIZE];

	snprintf(at->text[0], sizeof(at->text[0]), "%*s%s", indent, "",
		 printable(model_text(at->of->model, OPERATOR->name), name, sizeof(name)));
	return cell_text(at->text[0]);
}

static struct cell made_by(struct table_cursor *at, const struct operator_pipeline_usage *row)
{
	if (OPERATOR->in_trainer)
		return cell_text("trainer");
	if (!OPERATOR->workers)
		return cell_none();
	snprintf(at->text[1], sizeof(at->text[1]), "%u", OPERATOR->workers);
	return cell_text(at->text[1]);
}

static struct cell each(struct table_cursor *at, const struct operator_pipeline_usage *row)
{
	if (!row->has_element_ns)
		return does_not_apply();
	snprintf(at->text[1], sizeof(at->text[1]), "%s%.1f", row->estimated ? "~" : "",
		 row->element_ns / 1e3);
	return cell_text(at->text[1]);
}

/* Returns how long the operator delayed the job, the cause, and the place. */
static struct stage_wait stage_of(const struct table_cursor *at)
{
	return stage_wait_find(at->of->results->verdict, PIPELINE,
			       (uint32_t)((const struct operator_pipeline_usage *)at->row -
					  USAGE->operators));
}

static bool is_walked(const struct table_cursor *at)
{
	const struct verdict *verdict = at->of->results->verdict;

	return PIPELINE->by_wakes && verdict && verdict->roots;
}

const char *pipeline_stage_place(const struct table_data *of, const struct stage_wait *wait, char *text,
				 size_t size)
{
	*text = '\0';
	if (wait->placed)
		root_place_text(of->model, of->syscalls, &wait->placed->root, text, size);
	return text;
}

static struct cell stage_cause(const struct table_cursor *at)
{
	struct stage_wait wait = stage_of(at);

	return wait.ns ? cell_text(idle_cause_name(wait.cause)) : cell_none();
}

static struct cell stage_where(struct table_cursor *at)
{
	struct stage_wait wait = stage_of(at);

	return cell_text(pipeline_stage_place(at->of, &wait, at->text[2], sizeof(at->text[2])));
}

#define STAGE(value) (is_walked(at) ? (value) : cell_none())

#define QUEUE (&USAGE->queues[row->queue])
#define CAPACITY (PIPELINE->queues.row[row->queue].capacity)
#define OF_QUEUE(value) (row->queue == INDEX_NONE ? does_not_apply() : (value))
#define OF_TIME(known, ns) \
	OF_QUEUE(cell_known_real(known, 100 * (double)(ns) / (double)QUEUE->observed_ns))
/* A file of samples has no pushes unless it counts them. */
#define IS_COUNTED (!PIPELINE->sampled || QUEUE->pushes)

#define OF_OWN_THREADS(value) (OPERATOR->in_trainer ? does_not_apply() : (value))
#define UNLESS_SAMPLED(value) cell_known(!PIPELINE->sampled, value)

#define OPERATOR_FIGURES(COLUMN)                                                                   \
	COLUMN(label, TEXT, "operator", "its name, behind those that it hands to", label(at, row)) \
	COLUMN(in_trainer, FLAG, "in trainer", "runs in the thread that fetches",                  \
	       cell_flag(OPERATOR->in_trainer))                                                    \
	COLUMN(made_by, TEXT, "workers", "how many they are, or whose thread runs it", made_by(at, row))   \
	COLUMN(threads, COUNT, "threads", "its own and their descendants",                         \
	       OF_OWN_THREADS(UNLESS_SAMPLED(row->own_threads + row->descendants)))                \
	COLUMN(cpu, PERCENT, "CPU", "CPU time of its own threads as a share of one CPU",           \
	       OF_OWN_THREADS(cell_known_real(row->has_times, row->utilization)))                  \
	COLUMN(all_cpu, PERCENT, "with descendants", "the same with their descendants",            \
	       OF_OWN_THREADS(cell_known_real(row->has_times, row->all_utilization)))              \
	COLUMN(utilization_with_descendants_percent, PERCENT, "with descendants",                  \
	       "CPU time with descendants as a share of one CPU",                                  \
	       cell_known_real(row->has_times, row->all_utilization))                              \
	COLUMN(run_with_descendants_ns, NS, "run with descendants",                                \
	       "time on a CPU, of descendants, too", cell_known(row->has_times, row->all_run_ns))  \
	COLUMN(each, TEXT, "us each", "mean time of an element", each(at, row))                    \
	COLUMN(element_mean_ns, SHORT_NS, "each", "mean time of an element",                       \
	       cell_known(row->has_element_ns, (uint64_t)row->element_ns))                         \
	COLUMN(element_estimated, FLAG, "estimated", "that is what its thread did between waits",  \
	       cell_known(row->has_element_ns, row->estimated))                                    \
	COLUMN(held_up_ns, NS, "held up", "how long the job waited for it",                        \
	       STAGE(cell_u64(stage_of(at).ns)))                                                   \
	COLUMN(held_up_percent, PERCENT, "held up", "the same as a share of the time",             \
	       STAGE(cell_real(stage_of(at).percent)))                                             \
	COLUMN(cause, TEXT, "cause", "of most of it", STAGE(stage_cause(at)))                      \
	COLUMN(where, TEXT, "where", "in what its threads were then", STAGE(stage_where(at)))      \
	COLUMN(to_device, FLAG, "to device", "a device takes out of its queue",                    \
	       OF_QUEUE(cell_flag(PIPELINE->queues.row[row->queue].to_device)))                    \
	COLUMN(capacity, COUNT, "of", "how many elements its queue holds at most",                 \
	       OF_QUEUE(cell_not_0(CAPACITY)))                                                     \
	COLUMN(mean_size, REAL, "queue", "elements in its queue, mean over time",                  \
	       OF_QUEUE(cell_known_real(QUEUE->known, QUEUE->mean_size)))                          \
	COLUMN(empty_percent, PERCENT, "empty", "time that it was empty",                          \
	       OF_TIME(QUEUE->known, QUEUE->empty_ns))                                             \
	COLUMN(full_percent, PERCENT, "full", "time that it was full",                             \
	       OF_TIME(QUEUE->known && CAPACITY, QUEUE->full_ns))                                  \
	COLUMN(pushes, COUNT, "pushes", "elements put into it",                                    \
	       OF_QUEUE(cell_known(IS_COUNTED && !PIPELINE->by_wakes, QUEUE->pushes)))             \
	COLUMN(pops, COUNT, "pops", "elements taken out of it",                                    \
	       OF_QUEUE(cell_known(IS_COUNTED && !PIPELINE->by_wakes, QUEUE->pops)))               \
	COLUMN(push_wait_ns, NS, "push wait", "time inside pushes",                                \
	       OF_QUEUE(cell_known(IS_COUNTED, QUEUE->push_wait_ns)))                              \
	COLUMN(pop_wait_ns, NS, "pop wait", "time inside pops",                                    \
	       OF_QUEUE(cell_known(IS_COUNTED, QUEUE->pop_wait_ns)))                               \
	COLUMN(work_run_ns, NS, "run", "of its work, on a CPU", cell_u64(row->work.run_ns))        \
	COLUMN(work_runnable_ns, NS, "runnable", "of its work, ready and waiting for a CPU",       \
	       cell_u64(row->work.runnable_ns))                                                    \
	COLUMN(work_io_ns, NS, "io", "of its work, asleep and waiting for a disk",                 \
	       cell_u64(row->work.io_ns))                                                          \
	COLUMN(work_sleep_ns, NS, "sleep", "of its work, asleep for anything else",                \
	       cell_u64(row->work.sleep_ns))

DEFINE_FIGURES(operator_figures, struct operator_pipeline_usage, OPERATOR_FIGURES, NULL);

/* Iterates in the order of their numbers. */
static bool next_by_id(struct table_cursor *at)
{
	const struct pipeline_results *pipelines = at->of->results->pipelines;

	CURSOR_OUTER(at, pipelines->count)
	{
		const struct pipeline_usage *usage = &pipelines->rows[at->i];
		uint64_t k = at->k;

		if (!cursor_inner(at, usage, usage->operators, usage->pipeline->operators.count,
				  sizeof(*usage->operators)))
			continue;
		at->row = &usage->operators[usage->order[k]];
		return true;
	}
	return false;
}

/* Selects the same operator again, for a map inside its own. */
static void of_itself(struct table_cursor *at, const struct table_cursor *outer)
{
	at->i = outer->index;
	at->k = outer->k - 1;
}

static bool has_queue(const struct table_cursor *outer)
{
	return ((const struct operator_pipeline_usage *)outer->row)->queue != INDEX_NONE;
}

static bool has_work(const struct table_cursor *outer)
{
	return work_times_known_ns(&((const struct operator_pipeline_usage *)outer->row)->work);
}

#define OF_OPERATOR(name, columns, is_known)                                                 \
	{                                                                                    \
		name, NULL, &table_pipeline_operators, columns, VIEW_ONE, &operator_figures, \
			.next = next_by_id, .within = of_itself, .known = is_known           \
	}

static const struct view_column QUEUE_SHOWN[] = {
	{ "to_device", .how = VIEW_NOT_0 },
	{ "capacity" },
	{ "mean_size" },
	{ "empty_percent" },
	{ "full_percent" },
	{ "pushes" },
	{ "pops" },
	{ "push_wait_ns" },
	{ "pop_wait_ns" },
	{ NULL },
};

static const struct view_column WORK_SHOWN[] = {
	{ "work_run_ns", "run_ns" },
	{ "work_runnable_ns", "runnable_ns" },
	{ "work_io_ns", "io_ns" },
	{ "work_sleep_ns", "sleep_ns" },
	{ NULL },
};

static const struct view QUEUE_OF = OF_OPERATOR("queue", QUEUE_SHOWN, has_queue);
static const struct view WORK_OF = OF_OPERATOR("work", WORK_SHOWN, has_work);

static const struct view_column OPERATOR_SHOWN[] = {
	{ "label", .how = VIEW_TEXT | VIEW_SHRINK },
	{ "id", .how = VIEW_JSON },
	{ "name", .how = VIEW_JSON | VIEW_EMPTY },
	{ "type", .how = VIEW_JSON | VIEW_EMPTY },
	{ "workers", .how = VIEW_JSON },
	{ "made_by", .how = VIEW_TEXT | VIEW_RIGHT },
	{ "threads", .how = VIEW_TEXT },
	{ "in_trainer", .how = VIEW_JSON },
	{ "cpu", .how = VIEW_TEXT },
	{ "all_cpu", .how = VIEW_TEXT, .heading = "with descendants" },
	{ "utilization_percent", .how = VIEW_JSON },
	{ "utilization_with_descendants_percent", .how = VIEW_JSON },
	{ "run_ns", .how = VIEW_JSON },
	{ "runnable_ns", .how = VIEW_JSON },
	{ "blocked_ns", .how = VIEW_JSON },
	{ "run_with_descendants_ns", .how = VIEW_JSON },
	{ "elements" },
	{ "each", .how = VIEW_TEXT | VIEW_RIGHT },
	{ "element_mean_ns", .how = VIEW_JSON },
	{ "element_estimated", .how = VIEW_JSON },
	{ "held_up_ns", .how = VIEW_JSON },
	{ "held_up_percent", .how = VIEW_JSON },
	{ "cause", .how = VIEW_JSON },
	{ "where", .how = VIEW_JSON },
	{ "input_wait_ns", .heading = "waits for input ms" },
	{ "output_wait_ns", .heading = "for room ms" },
	{ "mean_size", .how = VIEW_TEXT, .scale = 1, .decimals = 1 },
	{ "capacity", .how = VIEW_TEXT },
	{ "empty_percent", .how = VIEW_TEXT },
	{ "full_percent", .how = VIEW_TEXT },
	{ NULL },
};

static void of_pipeline(struct table_cursor *at, const struct table_cursor *outer)
{
	at->i = outer->index;
	at->limit = outer->index + 1;
}

const struct view pipeline_operators_view = {
	"operators", "operators",	 &table_pipeline_operators, OPERATOR_SHOWN,
	VIEW_ROWS,   &operator_figures,	 .next = next_by_id,	    .within = of_pipeline,
	.inside = { &PARENTS, &WORK_OF, &QUEUE_OF, &THREADS, &SERIES },
};
