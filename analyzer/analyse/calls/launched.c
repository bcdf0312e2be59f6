/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/launched.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/join/launch/call_kind.h"
#include "analyzer/join/launch/launched_names.h"
#include "lib/base/map.h"

/* An executor of a process: the operator that made it, and whether it has run. */
struct executor {
	uint32_t operator;
	bool ran;
};

/* Calls of one row by the source of their name. */
struct name_sources {
	uint32_t calls[NAMED_TASK + 1];
};

struct collection {
	const struct model *model;
	const struct analysis_options *options;
	struct analysis_window window;
	MODEL_ARRAY(struct launched_usage) rows;
	MODEL_ARRAY(struct name_sources) sources; /* by row */
	struct map groups; /* process << 32 | runtime -> a number */
	struct map places; /* that number << 32 | name -> row */
	MODEL_ARRAY(uint32_t) phases; /* calls of either phase */
	MODEL_ARRAY(struct executor) executors;
	uint8_t *state; /* by call: enum phase_state */
};

enum phase_state { PHASE_NONE = 0, PHASE_PREPARED, PHASE_REUSED, PHASE_UNPREPARED };

const char *call_named_text(uint8_t named)
{
	static const char *const texts[] = {
		[NAMED_NOT] = "unknown",       [NAMED_ARGUMENT] = "argument",
		[NAMED_FUNCTION] = "function", [NAMED_HANDLE] = "handle",
		[NAMED_SYMBOL] = "symbol",     [NAMED_INNER] = "inner",
		[NAMED_TASK] = "task",
	};

	return named < sizeof(texts) / sizeof(*texts) ? texts[named] : "unknown";
}

static bool executor_of(const struct function *function, const struct call *call, uint64_t *value)
{
	for (int i = 0; i < 3; i++) {
		if (function->roles[i] != PROFBPF__FUNCTION__ROLE__CORRELATION)
			continue;
		*value = call->args[i];
		return *value != 0;
	}
	return false;
}

/* Is it a phase of an operator in two phases: the call that prepares it, or the call that launches it? */
static bool is_phase(const struct function *function, int kind)
{
	if (function->kind != kind || !function->launches)
		return false;
	for (int i = 0; i < 3; i++)
		if (function->roles[i] == PROFBPF__FUNCTION__ROLE__CORRELATION)
			return true;
	return false;
}

static bool is_first_phase(const struct function *function)
{
	return is_phase(function, PROFBPF__FUNCTION__KIND__COMPILE);
}

static bool is_second_phase(const struct function *function)
{
	return is_phase(function, PROFBPF__FUNCTION__KIND__LAUNCH);
}

static bool wanted(const struct collection *of, const struct call *call)
{
	return analysis_has(call->start_ns, &of->window) &&
	       analysis_wants_process(of->model, of->options,
				      of->model->threads.row[call->thread].process);
}

static int by_start(const void *a, const void *b, void *context)
{
	const struct call *calls = context;
	const struct call *x = &calls[*(const uint32_t *)a], *y = &calls[*(const uint32_t *)b];

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* 96 bits of key in a map of 64: addresses of user space leave the upper 16 bits free. */
static uint64_t executor_key(const struct model *model, const struct call *call, uint64_t value)
{
	uint64_t process = model->threads.row[call->thread].process;

	return value ^ process << 47 ^ process >> 17;
}

static bool follow_executor(struct collection *of, struct map *map, uint32_t index)
{
	const struct call *call = &of->model->calls.row[index];
	const struct function *function = &of->model->functions.row[call->function];
	struct executor fresh = { .operator= function->launches };
	bool second = is_second_phase(function);
	struct executor *executor;
	uint64_t value = 0;
	uint32_t known;

	of->state[index] = second ? PHASE_UNPREPARED : PHASE_NONE;
	if (!executor_of(function, call, &value))
		return true;
	known = map_get(map, executor_key(of->model, call, value));
	if (!second) {
		if (call->flags & (MODEL_CALL_ERROR | MODEL_CALL_NOT_RETURNED))
			return true;
		if (known != MAP_NONE) {
			of->executors.row[known] = fresh;
			return true;
		}
		return map_put(map, executor_key(of->model, call, value), of->executors.count) &&
		       MODEL_PUSH(&of->executors, fresh);
	}
	executor = known == MAP_NONE ? NULL : &of->executors.row[known];
	if (!executor || executor->operator!= function->launches)
		return true;
	of->state[index] = executor->ran ? PHASE_REUSED : PHASE_PREPARED;
	executor->ran = true;
	return true;
}

/* In order of time over all threads: one thread may prepare an operator that another launches. */
static bool follow_executors(struct collection *of)
{
	struct map map = { 0 };
	bool ok = true;

	of->state = calloc((size_t)of->model->calls.count + 1, sizeof(*of->state));
	if (!of->state)
		return false;
	for (uint32_t i = 0; ok && i < of->model->calls.count; i++) {
		const struct call *call = &of->model->calls.row[i];
		const struct function *function = &of->model->functions.row[call->function];

		if (is_first_phase(function) || is_second_phase(function))
			ok = MODEL_PUSH(&of->phases, i);
	}
	if (ok && of->phases.count)
		qsort_r(of->phases.row, of->phases.count, sizeof(*of->phases.row), by_start,
			of->model->calls.row);
	for (uint32_t i = 0; ok && i < of->phases.count; i++)
		ok = follow_executor(of, &map, of->phases.row[i]);
	map_free(&map);
	return ok;
}

/* Fills the contribution of a launch or first phase; returns false if the call is neither. */
static bool usage_of(const struct collection *of, uint32_t index, struct launched_usage *usage)
{
	const struct call *call = &of->model->calls.row[index];
	const struct function *function = &of->model->functions.row[call->function];
	bool first = is_first_phase(function);
	bool returned = !(call->flags & MODEL_CALL_NOT_RETURNED);
	uint64_t ns;

	if (call->flags & MODEL_CALL_PART || !(first || call_launches(of->model, call)) ||
	    !wanted(of, call))
		return false;
	ns = returned ? model_call_ns(of->model, call) : 0;
	*usage = (struct launched_usage){
		.runtime = function->runtime,
		.process = of->model->threads.row[call->thread].process,
		.phases = first || is_second_phase(function),
	};
	if (first) {
		usage->name = function->launches;
		usage->named = NAMED_FUNCTION;
		usage->prepare_count = 1;
		usage->prepare_ns = ns;
		return true;
	}
	usage->name = call->text;
	usage->named = call->named;
	usage->count = 1;
	usage->errors = (call->flags & MODEL_CALL_ERROR) != 0;
	usage->returned = returned;
	usage->total_ns = ns;
	usage->prepared = of->state[index] == PHASE_PREPARED;
	usage->reused = of->state[index] == PHASE_REUSED;
	usage->unprepared = of->state[index] == PHASE_UNPREPARED;
	return true;
}

static void add(struct launched_usage *sum, const struct launched_usage *usage)
{
	sum->phases |= usage->phases;
	sum->count += usage->count;
	sum->errors += usage->errors;
	sum->returned += usage->returned;
	sum->total_ns += usage->total_ns;
	sum->prepared += usage->prepared;
	sum->reused += usage->reused;
	sum->unprepared += usage->unprepared;
	sum->prepare_count += usage->prepare_count;
	sum->prepare_ns += usage->prepare_ns;
}

/* Returns the value of a key in @map; adds the key with the value @next if it is new. MAP_NONE without memory. */
static uint32_t value_of(struct map *map, uint32_t high, uint32_t low, uint32_t next)
{
	uint64_t key = (uint64_t)high << 32 | low;
	uint32_t value = map_get(map, key);

	if (value != MAP_NONE)
		return value;
	return map_put(map, key, next) ? next : MAP_NONE;
}

static bool add_call(struct collection *of, uint32_t index)
{
	static const struct name_sources none;
	struct launched_usage usage;
	uint32_t group, row;

	if (!usage_of(of, index, &usage))
		return true;
	group = value_of(&of->groups, usage.process, usage.runtime, of->groups.count);
	row = value_of(&of->places, group, usage.name, of->rows.count);
	if (group == MAP_NONE || row == MAP_NONE)
		return false;
	if (row < of->rows.count)
		add(&of->rows.row[row], &usage);
	else if (!MODEL_PUSH(&of->rows, usage) || !MODEL_PUSH(&of->sources, none))
		return false;
	if (usage.named <= NAMED_TASK)
		of->sources.row[row].calls[usage.named]++;
	return true;
}

/* Of sources that are equally frequent the one that says more, which is the first in the enumeration. */
static uint8_t usual_source(const struct name_sources *sources)
{
	uint8_t usual = NAMED_NOT;

	for (uint8_t named = NAMED_ARGUMENT; named <= NAMED_TASK; named++)
		if (sources->calls[named] > sources->calls[usual])
			usual = named;
	return usual;
}

static int same_thing(const struct launched_usage *x, const struct launched_usage *y)
{
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->runtime < y->runtime ? -1 : x->runtime > y->runtime;
}

static int by_count(const void *a, const void *b)
{
	const struct launched_usage *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return same_thing(x, y);
}

int launched_analyse(const struct model *model, const struct analysis_options *options,
		     struct launched_results *results)
{
	struct collection of = { .model = model,
				 .options = options,
				 .window = analysis_window(model, options) };
	bool ok = follow_executors(&of);

	for (uint32_t i = 0; ok && i < model->calls.count; i++)
		ok = add_call(&of, i);
	for (uint32_t i = 0; ok && i < of.rows.count; i++)
		of.rows.row[i].named = usual_source(&of.sources.row[i]);
	if (of.rows.count)
		qsort(of.rows.row, of.rows.count, sizeof(*of.rows.row), by_count);
	*results = (struct launched_results){ .rows = of.rows.row,
					      .row_count = ok ? of.rows.count : 0 };
	map_free(&of.groups);
	map_free(&of.places);
	free(of.sources.row);
	free(of.phases.row);
	free(of.executors.row);
	free(of.state);
	return ok ? 0 : -ENOMEM;
}

void launched_free(struct launched_results *results)
{
	free(results->rows);
	*results = (struct launched_results){ 0 };
}
