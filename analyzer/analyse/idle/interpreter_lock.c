/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/interpreter_lock.h"

#include <stdlib.h>

#include "lib/base/bisect.h"
#include "proto/trace.pb-c.h"

/* Addresses at which a process's threads sleep for its interpreter's lock. Several after an exec of another Python. */
struct range {
	uint32_t process;
	uint64_t first, last;
};

/* A sample of Python's frames that saw a thread with the lock. */
struct look {
	uint32_t process;
	uint32_t thread;
	uint64_t ts_ns;
};

struct interpreter_locks {
	const struct model *model;
	MODEL_ARRAY(struct range) ranges; /* by process */
	MODEL_ARRAY(struct look) looks; /* by process, then time */
};

static int by_process(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->process < y->process ? -1 : x->process > y->process;
}

static int by_time(const void *a, const void *b)
{
	const struct look *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

static bool collect(struct interpreter_locks *locks)
{
	const struct model *model = locks->model;

	for (uint32_t i = 0; i < model->pythons.count; i++) {
		const struct python_interpreter *row = &model->pythons.row[i];

		if (row->lock_last > row->lock_first &&
		    !MODEL_PUSH(&locks->ranges,
				((struct range){ row->process, row->lock_first, row->lock_last })))
			return false;
	}
	if (!locks->ranges.count)
		return true;
	for (uint32_t i = 0; i < model->stack_samples.count; i++) {
		const struct stack_sample *row = &model->stack_samples.row[i];

		if (row->flags & MODEL_SAMPLE_LOCK && row->thread < model->threads.count &&
		    !MODEL_PUSH(&locks->looks,
				((struct look){ model->threads.row[row->thread].process,
						row->thread, row->ts_ns })))
			return false;
	}
	qsort(locks->ranges.row, locks->ranges.count, sizeof(*locks->ranges.row), by_process);
	if (locks->looks.count)
		qsort(locks->looks.row, locks->looks.count, sizeof(*locks->looks.row), by_time);
	return true;
}

struct interpreter_locks *interpreter_locks_new(const struct model *model)
{
	struct interpreter_locks *locks = calloc(1, sizeof(*locks));

	if (!locks)
		return NULL;
	locks->model = model;
	if (!collect(locks)) {
		interpreter_locks_free(locks);
		return NULL;
	}
	return locks;
}

bool interpreter_locks_any(const struct interpreter_locks *locks)
{
	return locks->ranges.count > 0;
}

void interpreter_locks_free(struct interpreter_locks *locks)
{
	if (!locks)
		return;
	free(locks->ranges.row);
	free(locks->looks.row);
	free(locks);
}

bool interpreter_lock_is(const struct interpreter_locks *locks, uint32_t thread, uint32_t object)
{
	const struct model *model = locks->model;
	const struct range *ranges = locks->ranges.row;
	const struct sleep_object *what;
	uint32_t process, i;

	if (!locks->ranges.count || thread >= model->threads.count ||
	    object >= model->sleep_objects.count)
		return false;
	what = &model->sleep_objects.row[object];
	if (what->kind != PROFBPF__SLEEP_OBJECTS__KIND__FUTEX)
		return false;
	process = model->threads.row[thread].process;
	i = BISECT(k, 0, locks->ranges.count, ranges[k].process < process);
	for (; i < locks->ranges.count && ranges[i].process == process; i++)
		if (what->object >= ranges[i].first && what->object < ranges[i].last)
			return true;
	return false;
}

uint32_t interpreter_lock_seen(const struct interpreter_locks *locks, uint32_t thread,
			       uint64_t from_ns, uint64_t to_ns)
{
	const struct look *looks = locks->looks.row;
	uint32_t process = locks->model->threads.row[thread].process;
	uint32_t i = BISECT(k, 0, locks->looks.count,
			    looks[k].process < process ||
				    (looks[k].process == process && looks[k].ts_ns < to_ns));

	while (i-- > 0 && looks[i].process == process && looks[i].ts_ns >= from_ns)
		if (looks[i].thread != thread)
			return looks[i].thread;
	return INDEX_NONE;
}
