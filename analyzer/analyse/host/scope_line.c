/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/scope_line.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/model/step_names.h"
#include "lib/base/bisect.h"

/* The function of a thread from this instant to its next change. */
struct change {
	uint64_t ns;
	uint32_t function; /* INDEX_NONE = nothing */
};

/* An open scope, and the function that represents the thread while this scope is the innermost one. */
struct open {
	uint64_t end_ns;
	uint32_t function;
};

struct scope_line {
	const struct model *model;
	MODEL_ARRAY(struct change) changes; /* thread by thread, by time */
	uint32_t *first; /* threads.count + 1 positions in changes */
	uint64_t *covered_ns; /* by thread: time in any scope */
	uint32_t *main; /* by process */
	bool *waits; /* by function */
	MODEL_ARRAY(struct open) stack;
};

static bool put(struct scope_line *line, uint32_t thread, uint64_t ns, uint32_t function)
{
	struct change change = { ns, function };
	uint32_t first = line->first[thread];
	struct change *last = NULL;

	if (line->changes.count > first)
		last = &line->changes.row[line->changes.count - 1];
	if (last && last->function != INDEX_NONE)
		line->covered_ns[thread] += ns - last->ns;
	if (last && last->ns == ns) {
		last->function = function;
		return true;
	}
	if (last ? last->function == function : function == INDEX_NONE)
		return true;
	return MODEL_PUSH(&line->changes, change);
}

/* Functions of Python are "$api.py:3165 try_to_block". */
static bool name_waits(const char *name)
{
	static const char *const PYTHON[] = { "try_to_block", "block_until_ready" };
	static const char *const STARTS[] = { "BlockHostUntil", "ComputeSemaphoreAcquire",
					      "Wait for donation holds", "Wait for usage holds",
					      "ThunkExecutor::Execute (wait for completion)" };
	const char *word = strrchr(name, ' ');

	for (size_t i = 0; *name == '$' && word && i < sizeof(PYTHON) / sizeof(*PYTHON); i++)
		if (strcmp(word + 1, PYTHON[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(STARTS) / sizeof(*STARTS); i++)
		if (strncmp(name, STARTS[i], strlen(STARTS[i])) == 0)
			return true;
	return false;
}

/* The function that represents a thread that was in @outer and enters @function. */
static uint32_t choose(const struct scope_line *line, uint32_t outer, uint32_t function)
{
	const struct model *model = line->model;
	const struct function *inner = &model->functions.row[function];
	uint64_t number;
	uint8_t before;

	if (step_name_of(model_text(model, inner->name), &number))
		return outer;
	if (outer == INDEX_NONE || line->waits[function])
		return function;
	if (line->waits[outer])
		return outer;
	before = model->functions.row[outer].scope;
	if (before == SCOPE_OPERATOR)
		return inner->scope > before ? function : outer;
	return inner->scope >= before ? function : outer;
}

/* Closes scopes that end at or before an instant. */
static bool close_until(struct scope_line *line, uint32_t thread, uint64_t ns)
{
	uint64_t now_ns = 0;

	while (line->stack.count && line->stack.row[line->stack.count - 1].end_ns <= ns) {
		uint64_t end_ns = line->stack.row[--line->stack.count].end_ns;
		uint32_t outer = line->stack.count
					 ? line->stack.row[line->stack.count - 1].function
					 : INDEX_NONE;

		now_ns = end_ns > now_ns ? end_ns : now_ns;
		if (!put(line, thread, now_ns, outer))
			return false;
	}
	return true;
}

static bool add_thread(struct scope_line *line, uint32_t thread)
{
	const struct model *model = line->model;
	uint32_t first, count = model_thread_calls(model, thread, &first);

	line->stack.count = 0;
	for (uint32_t i = first; i < first + count; i++) {
		const struct call *call = &model->calls.row[i];
		struct open open = { .end_ns = call->end_ns };
		uint32_t outer = INDEX_NONE;

		if (call->function >= model->functions.count || call->end_ns <= call->start_ns ||
		    !model->functions.row[call->function].scope)
			continue;
		if (!close_until(line, thread, call->start_ns))
			return false;
		if (line->stack.count)
			outer = line->stack.row[line->stack.count - 1].function;
		open.function = choose(line, outer, call->function);
		if (!MODEL_PUSH(&line->stack, open) ||
		    !put(line, thread, call->start_ns, open.function))
			return false;
	}
	return close_until(line, thread, UINT64_MAX);
}

static void find_main(struct scope_line *line)
{
	const struct model *model = line->model;

	for (uint32_t i = 0; i < model->processes.count; i++)
		line->main[i] = INDEX_NONE;
	for (uint32_t i = 0; i < model->threads.count; i++) {
		uint32_t process = model->threads.row[i].process;

		if (process < model->processes.count && line->covered_ns[i] &&
		    (line->main[process] == INDEX_NONE ||
		     line->covered_ns[i] > line->covered_ns[line->main[process]]))
			line->main[process] = i;
	}
}

static bool build(struct scope_line *line)
{
	const struct model *model = line->model;
	uint32_t threads = model->threads.count;

	line->first = calloc((size_t)threads + 1, sizeof(*line->first));
	line->covered_ns = calloc((size_t)threads + 1, sizeof(*line->covered_ns));
	line->main = calloc((size_t)model->processes.count + 1, sizeof(*line->main));
	line->waits = calloc((size_t)model->functions.count + 1, sizeof(*line->waits));
	if (!line->first || !line->covered_ns || !line->main || !line->waits)
		return false;
	for (uint32_t i = 0; i < model->functions.count; i++)
		line->waits[i] = model->functions.row[i].scope &&
				 name_waits(model_text(model, model->functions.row[i].name));
	for (uint32_t i = 0; i < threads; i++) {
		line->first[i] = line->changes.count;
		if (!add_thread(line, i))
			return false;
	}
	line->first[threads] = line->changes.count;
	find_main(line);
	return true;
}

struct scope_line *scope_line_new(const struct model *model)
{
	struct scope_line *line = calloc(1, sizeof(*line));
	bool any = false;

	if (!line)
		return NULL;
	line->model = model;
	for (uint32_t i = 0; i < model->functions.count && !any; i++)
		any = model->functions.row[i].scope;
	if (any && !build(line)) {
		scope_line_free(line);
		return NULL;
	}
	free(line->stack.row);
	line->stack.row = NULL;
	return line;
}

void scope_line_free(struct scope_line *line)
{
	if (!line)
		return;
	free(line->changes.row);
	free(line->first);
	free(line->covered_ns);
	free(line->main);
	free(line->waits);
	free(line->stack.row);
	free(line);
}

uint32_t scope_line_at(const struct scope_line *line, uint32_t thread, uint64_t ts_ns,
		       uint64_t *until_ns)
{
	const struct change *rows = line->changes.row;
	uint32_t next, end;

	*until_ns = UINT64_MAX;
	if (!line->first || thread >= line->model->threads.count)
		return INDEX_NONE;
	end = line->first[thread + 1];
	next = BISECT(i, line->first[thread], end, rows[i].ns <= ts_ns);
	if (next < end)
		*until_ns = rows[next].ns;
	return next > line->first[thread] ? rows[next - 1].function : INDEX_NONE;
}

bool scope_line_waits(const struct scope_line *line, uint32_t function)
{
	return line->waits && function < line->model->functions.count && line->waits[function];
}

uint32_t scope_line_main(const struct scope_line *line, uint32_t process)
{
	return line->main && process < line->model->processes.count ? line->main[process]
								    : INDEX_NONE;
}
