/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/python.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/map.h"
#include "lib/base/bisect.h"

/* The number of samples of a thread in a function, or the time that another thread held it up. */
struct pair {
	uint32_t thread;
	uint32_t other;
	uint64_t sum;
};

struct pairs {
	struct map map; /* thread row << 32 | other -> rows */
	MODEL_ARRAY(struct pair) rows;
};

struct collection {
	const struct model *model;
	const struct analysis_options *options;
	struct analysis_window window;
	struct map thread_map; /* thread -> threads */
	struct map function_map; /* names << 32 | process -> functions */
	struct map name_map; /* name << 32 | file -> a number */
	uint32_t names;
	uint64_t *pending; /* by thread: time waited for the lock that is not yet attributed to a holder */
	MODEL_ARRAY(struct python_thread) threads;
	MODEL_ARRAY(struct python_function) functions;
	struct pairs seen, held; /* samples of functions by thread; waits by the thread that held the lock */
};

static uint32_t thread_row(struct collection *c, uint32_t thread)
{
	struct python_thread new = { .thread = thread,
				     .holder = INDEX_NONE,
				     .function = INDEX_NONE };
	uint32_t index = map_get(&c->thread_map, thread);

	if (index != MAP_NONE)
		return index;
	index = c->threads.count;
	if (!map_put(&c->thread_map, thread, index) || !MODEL_PUSH(&c->threads, new))
		return INDEX_NONE;
	return index;
}

static uint32_t function_row(struct collection *c, uint32_t process,
			     const struct code_frame *frame)
{
	struct python_function new = { .process = process,
				       .name = frame->name,
				       .file = frame->source };
	uint64_t key = (uint64_t)frame->name << 32 | frame->source;
	uint32_t index = map_get(&c->name_map, key);

	if (index == MAP_NONE) {
		index = c->names++;
		if (!map_put(&c->name_map, key, index))
			return INDEX_NONE;
	}
	key = (uint64_t)index << 32 | process;
	index = map_get(&c->function_map, key);
	if (index != MAP_NONE)
		return index;
	index = c->functions.count;
	if (!map_put(&c->function_map, key, index) || !MODEL_PUSH(&c->functions, new))
		return INDEX_NONE;
	return index;
}

static bool add_pair(struct pairs *pairs, uint32_t thread, uint32_t other, uint64_t n)
{
	struct pair new = { thread, other, 0 };
	uint64_t key = (uint64_t)thread << 32 | other;
	uint32_t index = map_get(&pairs->map, key);

	if (index == MAP_NONE) {
		index = pairs->rows.count;
		if (!map_put(&pairs->map, key, index) || !MODEL_PUSH(&pairs->rows, new))
			return false;
	}
	pairs->rows.row[index].sum += n;
	return true;
}

/* Was the thread on a CPU? */
static bool runs_at(const struct model *model, uint32_t thread, uint64_t ts_ns)
{
	const struct timeline *timeline;
	const struct span *spans;
	uint32_t next;

	if (thread >= model->timelines.count)
		return false;
	timeline = &model->timelines.row[thread];
	spans = &model->spans.row[timeline->first];
	next = BISECT(i, 0, timeline->count, spans[i].start_ns <= ts_ns);
	return next && ts_ns < spans[next - 1].end_ns && spans[next - 1].state == STATE_RUNNING;
}

static int count_look(struct collection *c, const struct stack_sample *sample)
{
	const struct model *model = c->model;
	uint32_t process = model->threads.row[sample->thread].process;
	bool runs = runs_at(model, sample->thread, sample->ts_ns);
	bool locked = sample->flags & MODEL_SAMPLE_LOCK;
	uint32_t row = thread_row(c, sample->thread), function;
	const struct code_stack *stack;
	const struct code_frame *frame;
	struct python_function *f;

	if (row == INDEX_NONE)
		return -ENOMEM;
	c->threads.row[row].samples++;
	c->threads.row[row].running += runs;
	c->threads.row[row].locked += locked;
	if (sample->stack >= model->code_stacks.count)
		return 0;
	stack = &model->code_stacks.row[sample->stack];
	if (!stack->depth)
		return 0;
	frame = &model->code_frames.row[model->stack_frames.row[stack->first]];
	function = function_row(c, process, frame);
	if (function == INDEX_NONE || !add_pair(&c->seen, row, function, 1))
		return -ENOMEM;
	f = &c->functions.row[function];
	f->samples++;
	f->running += runs;
	f->locked += locked;
	if (frame->line)
		f->line = frame->line;
	return 0;
}

static int count_wait(struct collection *c, const struct stack_sample *sample)
{
	uint32_t row = thread_row(c, sample->thread);

	if (row == INDEX_NONE)
		return -ENOMEM;
	c->threads.row[row].waits++;
	c->threads.row[row].wait_ns += sample->dur_ns;
	c->pending[sample->thread] += sample->dur_ns;
	if (sample->waker == INDEX_NONE)
		return 0;
	if (!add_pair(&c->held, row, sample->waker, c->pending[sample->thread]))
		return -ENOMEM;
	c->pending[sample->thread] = 0;
	return 0;
}

static int collect(struct collection *c)
{
	const struct model *model = c->model;
	int err = 0;

	for (uint32_t i = 0; i < model->stack_samples.count && !err; i++) {
		const struct stack_sample *sample = &model->stack_samples.row[i];

		if (!analysis_has(sample->ts_ns, &c->window) ||
		    !analysis_wants_process(model, c->options,
					    model->threads.row[sample->thread].process))
			continue;
		if (sample->flags & MODEL_SAMPLE_PYTHON)
			err = count_look(c, sample);
		else if (sample->flags & MODEL_SAMPLE_WAIT)
			err = count_wait(c, sample);
	}
	return err;
}

/* Chooses each thread's function with most samples, and the thread that held it up longest. */
static void choose(struct collection *c)
{
	uint64_t *most = calloc((size_t)c->threads.count + 1, sizeof(*most));

	for (uint32_t i = 0; most && i < c->seen.rows.count; i++) {
		const struct pair *pair = &c->seen.rows.row[i];

		if (pair->sum <= most[pair->thread])
			continue;
		most[pair->thread] = pair->sum;
		c->threads.row[pair->thread].function = pair->other;
	}
	free(most);
	for (uint32_t i = 0; i < c->held.rows.count; i++) {
		const struct pair *pair = &c->held.rows.row[i];
		struct python_thread *thread = &c->threads.row[pair->thread];

		if (pair->sum <= thread->holder_ns)
			continue;
		thread->holder_ns = pair->sum;
		thread->holder = pair->other;
	}
}

static int add_processes(const struct collection *c, struct python_results *results)
{
	const struct model *model = c->model;

	results->processes = calloc((size_t)model->pythons.count + 1, sizeof(*results->processes));
	if (!results->processes)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->pythons.count; i++) {
		const struct python_interpreter *from = &model->pythons.row[i];
		struct python_process *to = &results->processes[results->process_count];

		if (!analysis_wants_process(model, c->options, from->process))
			continue;
		*to = (struct python_process){ .process = from->process,
					       .version = from->version,
					       .lock_known = from->lock_known,
					       .build = from->build };
		for (uint32_t t = 0; t < c->threads.count; t++) {
			const struct python_thread *thread = &c->threads.row[t];

			if (model->threads.row[thread->thread].process != from->process)
				continue;
			to->samples += thread->samples;
			to->waits += thread->waits;
			to->wait_ns += thread->wait_ns;
		}
		results->process_count++;
	}
	return 0;
}

static int by_wait(const void *a, const void *b)
{
	const struct python_thread *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int by_samples(const void *a, const void *b, void *context)
{
	const struct python_function *functions = context;
	const struct python_function *x = &functions[*(const uint32_t *)a];
	const struct python_function *y = &functions[*(const uint32_t *)b];

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* Sorts functions, and updates the threads' indices of them. */
static int sort_functions(struct collection *c, struct python_results *results)
{
	uint32_t count = c->functions.count;
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
	uint32_t *place = calloc((size_t)count + 1, sizeof(*place));

	results->functions = calloc((size_t)count + 1, sizeof(*results->functions));
	if (!order || !place || !results->functions) {
		free(order);
		free(place);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	if (count)
		qsort_r(order, count, sizeof(*order), by_samples, c->functions.row);
	for (uint32_t i = 0; i < count; i++) {
		place[order[i]] = i;
		results->functions[i] = c->functions.row[order[i]];
	}
	for (uint32_t t = 0; t < c->threads.count; t++)
		if (c->threads.row[t].function != INDEX_NONE)
			c->threads.row[t].function = place[c->threads.row[t].function];
	results->function_count = count;
	free(order);
	free(place);
	return 0;
}

int python_analyse(const struct model *model, const struct analysis_options *options,
		   struct python_results *results)
{
	struct collection c = { .model = model,
				.options = options,
				.window = analysis_window(model, options) };
	int err;

	*results = (struct python_results){ .states_known = model->switches.count > 0 };
	c.pending = calloc((size_t)model->threads.count + 1, sizeof(*c.pending));
	err = c.pending ? collect(&c) : -ENOMEM;
	if (!err) {
		choose(&c);
		err = sort_functions(&c, results);
	}
	if (!err)
		err = add_processes(&c, results);
	if (c.threads.count)
		qsort(c.threads.row, c.threads.count, sizeof(*c.threads.row), by_wait);
	results->threads = c.threads.row;
	results->thread_count = c.threads.count;
	map_free(&c.thread_map);
	map_free(&c.function_map);
	map_free(&c.name_map);
	map_free(&c.seen.map);
	map_free(&c.held.map);
	free(c.functions.row);
	free(c.seen.rows.row);
	free(c.held.rows.row);
	free(c.pending);
	return err;
}

void python_free(struct python_results *results)
{
	free(results->processes);
	free(results->threads);
	free(results->functions);
	*results = (struct python_results){ 0 };
}
