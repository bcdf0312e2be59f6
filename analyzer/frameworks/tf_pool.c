/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which operator of tf.data the threads of TensorFlow's pools work for.
 *
 * A parallel map() runs the user's function in a pool that all operators and the trainer's own operations share; none
 * of its threads calls an iterator. But wake-ups connect them: the operator's thread wakes a pool thread to begin, and
 * a pool thread that has finished an element wakes the operator's thread, which had no free place for another element,
 * or the thread that waits for the element in GetNext(). The pool thread's time up to such a wake-up belongs to that
 * operator; afterwards, and when a pool thread wakes another one, the operator stays the same until another wake-up
 * shows otherwise. Operators that are not parallel, such as Generator and Map, also run the user's function in the
 * pool, and wait for it in their own GetNext(): that time counts for them already, and the pool's time for no
 * operator.
 *
 * A pool thread without work sleeps without a time limit. Sleeps that have a time limit or that no thread ends are a
 * part of the work: pauses, reads, waits for Python's interpreter lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "analyzer/frameworks/tf_data.h"
#include "lib/base/bisect.h"

#define ENCLOSING_MAX 256 /* calls before an instant that are searched */
#define LOCK_MAX_NS 10000000 /* waits for Python's lock have a timeout of 5 ms */
#define WORKERS_MAX 256
#define AT_ONCE_SHARE 20 /* least part of the active time in which so many workers must be active: one in 20 */

/* A thread of a pool. */
struct pooled {
	bool is;
	struct tf_place place; /* the operator it works for, as far as known */
	uint64_t from_ns; /* its work is known up to here */
};

/* A piece of work of a pool thread. */
struct pool_work {
	struct pipeline_work work;
	uint32_t loader;
};

struct pool {
	struct tf_data *tf;
	uint32_t process;
	struct pooled *threads; /* by thread of the model */
	MODEL_ARRAY(struct pool_work) works;
};

/* Returns the sleep that a wake-up ended, or NULL. */
static const struct span *sleep_ended(const struct model *model, uint32_t thread, uint64_t ts_ns)
{
	const struct timeline *line;
	uint32_t at;

	if (thread >= model->timelines.count)
		return NULL;
	line = &model->timelines.row[thread];
	at = BISECT(i, line->first, line->first + line->count, model->spans.row[i].end_ns < ts_ns);
	if (at == line->first + line->count || model->spans.row[at].end_ns != ts_ns ||
	    model->spans.row[at].state != STATE_SLEEP)
		return NULL;
	return &model->spans.row[at];
}

/* Returns the operator in whose GetNext() a thread is (*in); otherwise the operator that the thread belongs to. */
static struct tf_place place_at(const struct pool *pool, uint32_t thread, uint64_t ts_ns, bool *in)
{
	const struct model *model = pool->tf->model;
	uint32_t at = BISECT(i, 0, model->calls.count,
			     model->calls.row[i].thread < thread ||
				     (model->calls.row[i].thread == thread &&
				      model->calls.row[i].start_ns <= ts_ns));

	*in = false;
	for (uint32_t i = 0; i < ENCLOSING_MAX && at > 0; i++) {
		const struct call *call = &model->calls.row[--at];

		if (call->thread != thread)
			break;
		if (call->end_ns >= ts_ns && pool->tf->what[call->function] == TF_GET_NEXT &&
		    pool->tf->loader_of[at] != INDEX_NONE) {
			uint32_t loader = pool->tf->loader_of[at];

			*in = true;
			return (struct tf_place){
				loader, tf_operator(&pool->tf->loaders.row[loader], call->text)
			};
		}
	}
	return pool->tf->works_for[thread];
}

/*
 * A thread that sleeps at a lock for longer than Python's threads do before they retry does not work for an operator,
 * but does periodic work. Returns the first such sleep after an instant, or @to_ns if there is none before.
 */
static uint64_t first_pause(const struct model *model, uint32_t thread, uint64_t from_ns,
			    uint64_t to_ns)
{
	const struct timeline *line =
		thread < model->timelines.count ? &model->timelines.row[thread] : NULL;
	uint32_t end = line ? line->first + line->count : 0;

	for (uint32_t i = line ? BISECT(k, line->first, end, model->spans.row[k].end_ns <= from_ns)
			       : 0;
	     i < end && model->spans.row[i].start_ns < to_ns; i++) {
		const struct span *span = &model->spans.row[i];

		if (span->state == STATE_SLEEP && span->syscall == SYS_futex &&
		    span->flags & SPAN_TIMEOUT && span->end_ns - span->start_ns > LOCK_MAX_NS)
			return span->start_ns > from_ns ? span->start_ns : from_ns;
	}
	return to_ns;
}

/* Assigns the time of @thread since its last known instant to @place. */
static bool settle(struct pool *pool, uint32_t thread, struct tf_place place, uint64_t to_ns)
{
	struct pooled *of = &pool->threads[thread];
	struct pool_work row = {
		.work = { .start_ns = of->from_ns, .end_ns = to_ns, .op = place.op, .thread = thread },
		.loader = place.loader,
	};

	of->from_ns = to_ns;
	if (place.op == INDEX_NONE || row.work.start_ns >= to_ns || !row.work.start_ns)
		return true;
	row.work.end_ns = first_pause(pool->tf->model, thread, row.work.start_ns, to_ns);
	return MODEL_PUSH(&pool->works, row);
}

static bool asynchronous(const struct tf_data *tf, struct tf_place place)
{
	return tf_asynchronous(tf->model, tf_pipeline(tf, &tf->loaders.row[place.loader]), place.op);
}

/* Returns the operator for which a woken pool thread is to work. */
static struct tf_place handed_on(const struct pool *pool, const struct wake *wake)
{
	struct tf_place place;
	bool in;

	if (pool->threads[wake->waker_thread].is)
		return pool->threads[wake->waker_thread].place;
	place = place_at(pool, wake->waker_thread, wake->ts_ns, &in);
	return in && place.op != INDEX_NONE && !asynchronous(pool->tf, place) ? TF_NOWHERE : place;
}

/* A pool thread is woken: it had no work before. */
static bool begins(struct pool *pool, const struct wake *wake, const struct span *sleep)
{
	struct pooled *of = &pool->threads[wake->thread];
	bool memory = settle(pool, wake->thread, of->place, sleep->start_ns);

	of->from_ns = wake->ts_ns;
	of->place = handed_on(pool, wake);
	return memory;
}

/* Did a thread wake another one, and is one of them a pool thread? */
static bool concerns_pool(const struct pool *pool, const struct wake *wake)
{
	uint32_t threads = pool->tf->model->threads.count;

	return wake->thread < threads && wake->waker_thread < threads &&
	       !(wake->flags & WOKEN_BY_INTERRUPT) &&
	       (pool->threads[wake->thread].is || pool->threads[wake->waker_thread].is);
}

static bool walk_wakes(struct pool *pool)
{
	const struct model *model = pool->tf->model;
	bool memory = true;

	for (uint32_t i = 0; i < model->wakes.count && memory; i++) {
		const struct wake *wake = &model->wakes.row[i];
		const struct span *sleep;
		struct tf_place place;
		bool in;

		if (!concerns_pool(pool, wake))
			continue;
		sleep = sleep_ended(model, wake->thread, wake->ts_ns);
		if (!sleep || sleep->flags & SPAN_TIMEOUT)
			continue;
		if (pool->threads[wake->thread].is) {
			memory = begins(pool, wake, sleep);
			continue;
		}
		place = place_at(pool, wake->thread, wake->ts_ns, &in);
		if (place.op == INDEX_NONE || (!in && !asynchronous(pool->tf, place)))
			continue;
		if (!asynchronous(pool->tf, place))
			place = TF_NOWHERE;
		memory = settle(pool, wake->waker_thread, place, wake->ts_ns);
		pool->threads[wake->waker_thread].place = place;
	}
	return memory;
}

/* The beginning or the end of a piece of work of an operator. */
struct edge {
	uint64_t ts_ns;
	int change;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->change - y->change;
}

/*
 * Returns how many threads worked for an operator at once, longer than momentarily: over time all of the pool's
 * threads do. @edges has room for two entries for each work.
 */
static uint32_t workers_of(const struct pool *pool, struct tf_place place, struct edge *edges)
{
	uint64_t at_least_ns[WORKERS_MAX + 1] = { 0 };
	uint32_t count = 0, now = 0, workers = 0;

	for (uint32_t i = 0; i < pool->works.count; i++) {
		const struct pipeline_work *work = &pool->works.row[i].work;

		if (pool->works.row[i].loader != place.loader || work->op != place.op)
			continue;
		edges[count++] = (struct edge){ work->start_ns, 1 };
		edges[count++] = (struct edge){ work->end_ns, -1 };
	}
	if (count)
		qsort(edges, count, sizeof(*edges), by_time);
	for (uint32_t i = 0; i + 1 < count; i++) {
		now += (uint32_t)edges[i].change;
		for (uint32_t k = 1; k <= now && k <= WORKERS_MAX; k++)
			at_least_ns[k] += edges[i + 1].ts_ns - edges[i].ts_ns;
	}
	for (uint32_t k = 1; k <= WORKERS_MAX; k++)
		if (at_least_ns[k] && at_least_ns[k] >= at_least_ns[1] / AT_ONCE_SHARE)
			workers = k;
	return workers;
}

/* Replaces works of a loader that are waits for the pool by the works of the pool. */
static int replace_works(const struct pool *pool, uint32_t loader, struct edge *edges)
{
	struct pipeline *pipeline = tf_pipeline(pool->tf, &pool->tf->loaders.row[loader]);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < pipeline->works.count; i++)
		if (!tf_asynchronous(pool->tf->model, pipeline, pipeline->works.row[i].op))
			pipeline->works.row[kept++] = pipeline->works.row[i];
	pipeline->works.count = kept;
	for (uint32_t op = 0; op < pipeline->operators.count; op++) {
		struct tf_place place = { loader, op };
		uint32_t workers = asynchronous(pool->tf, place) ? workers_of(pool, place, edges) : 0;

		if (workers)
			pipeline->operators.row[op].workers = workers;
	}
	for (uint32_t i = 0; i < pool->works.count; i++)
		if (pool->works.row[i].loader == loader &&
		    !MODEL_PUSH(&pipeline->works, pool->works.row[i].work))
			return -ENOMEM;
	return 0;
}

static void mark_threads(struct pool *pool)
{
	const struct model *model = pool->tf->model;

	for (uint32_t i = 0; i < model->threads.count; i++) {
		pool->threads[i] = (struct pooled){ .place = TF_NOWHERE };
		pool->threads[i].is = model->threads.row[i].process == pool->process &&
				      !pool->tf->asks[i];
	}
}

/* Handles the pool of one process, which all of its loaders share. */
static int add_process(struct pool *pool)
{
	const struct tf_data *tf = pool->tf;
	struct edge *edges;
	int err = 0;

	pool->works.count = 0;
	mark_threads(pool);
	if (!walk_wakes(pool))
		return -ENOMEM;
	edges = calloc(2 * (size_t)pool->works.count + 1, sizeof(*edges));
	if (!edges)
		return -ENOMEM;
	for (uint32_t l = 0; l < tf->loaders.count && !err; l++)
		if (tf->loaders.row[l].process == pool->process)
			err = replace_works(pool, l, edges);
	free(edges);
	return err;
}

static bool was_before(const struct tf_data *tf, uint32_t loader)
{
	for (uint32_t l = 0; l < loader; l++)
		if (tf->loaders.row[l].process == tf->loaders.row[loader].process)
			return true;
	return false;
}

int tf_pool_works(struct tf_data *tf)
{
	struct pool pool = { .tf = tf };
	int err = 0;

	if (tf->model->spans.count == 0)
		return 0;
	pool.threads = calloc((size_t)tf->model->threads.count + 1, sizeof(*pool.threads));
	if (!pool.threads)
		err = -ENOMEM;
	for (uint32_t l = 0; l < tf->loaders.count && !err; l++) {
		pool.process = tf->loaders.row[l].process;
		if (!was_before(tf, l))
			err = add_process(&pool);
	}
	free(pool.threads);
	free(pool.works.row);
	return err;
}
