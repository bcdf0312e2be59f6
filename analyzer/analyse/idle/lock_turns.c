/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/lock_turns.h"

#include <string.h>
#include <sys/param.h>

#include "analyzer/analyse/device/device_workers.h"
#include "proto/trace.pb-c.h"

bool lock_turns_pool(const struct model *model, uint32_t a, uint32_t b)
{
	static const char digits[] = "0123456789";
	const struct thread *rows = model->threads.row;
	const char *x = model_text(model, rows[a].name), *y = model_text(model, rows[b].name);

	if (rows[a].process != rows[b].process)
		return false;
	for (;;) {
		x += strspn(x, digits);
		y += strspn(y, digits);
		if (*x != *y || !*x)
			return *x == *y;
		x++;
		y++;
	}
}

static bool is_futex(const struct model *model, const struct span *span)
{
	return span->object < model->sleep_objects.count &&
	       model->sleep_objects.row[span->object].kind == PROFBPF__SLEEP_OBJECTS__KIND__FUTEX;
}

/* Of a thread's sleeps for futexes those that a certain other thread ended. */
struct ended {
	uint32_t count;
	uint32_t object; /* of the last one, or INDEX_NONE */
	uint64_t ns;
};

static struct ended find_ended(const struct model *model, uint32_t thread, uint32_t by)
{
	const struct timeline *line = &model->timelines.row[thread];
	struct ended ended = { .object = INDEX_NONE };

	for (uint32_t i = line->first; i < line->first + line->count; i++) {
		const struct span *span = &model->spans.row[i];

		if (span->state != STATE_SLEEP || !span_woken_by_thread(span) || span->other != by ||
		    !is_futex(model, span))
			continue;
		ended.count++;
		ended.object = span->object;
		ended.ns += span->end_ns - span->start_ns;
	}
	return ended;
}

/* Are these sleeps enough of the thread's time to matter? */
static bool matter(const struct model *model, uint32_t thread, const struct ended *ended)
{
	const struct timeline *line = &model->timelines.row[thread];
	const struct span *first = &model->spans.row[line->first];

	return ended->count >= TURNS_MIN &&
	       ended->ns * TURNS_SHARE >= first[line->count - 1].end_ns - first->start_ns;
}

/* Returns the next span at or after @i, of a timeline that ends before @end, in which the thread is on a CPU, or @end. */
static uint32_t next_run(const struct model *model, uint32_t i, uint32_t end)
{
	while (i < end && model->spans.row[i].state != STATE_RUNNING)
		i++;
	return i;
}

static uint64_t run_ns(const struct model *model, const struct timeline *line)
{
	uint32_t end = line->first + line->count;
	uint64_t ns = 0;

	for (uint32_t i = line->first; (i = next_run(model, i, end)) < end; i++)
		ns += model->spans.row[i].end_ns - model->spans.row[i].start_ns;
	return ns;
}

/* Do two threads run at once for less than half of the time in which the one that runs less does? */
static bool run_apart(const struct model *model, uint32_t x, uint32_t y)
{
	const struct timeline *a = &model->timelines.row[x], *b = &model->timelines.row[y];
	uint32_t i = a->first, k = b->first, i_end = i + a->count, k_end = k + b->count;
	uint64_t together_ns = 0;

	while ((i = next_run(model, i, i_end)) < i_end && (k = next_run(model, k, k_end)) < k_end) {
		const struct span *p = &model->spans.row[i], *q = &model->spans.row[k];
		uint64_t from = MAX(p->start_ns, q->start_ns), to = MIN(p->end_ns, q->end_ns);

		together_ns += to > from ? to - from : 0;
		if (p->end_ns <= q->end_ns)
			i++;
		else
			k++;
	}
	return 2 * together_ns < MIN(run_ns(model, a), run_ns(model, b));
}

static bool is_main(const struct model *model, uint32_t thread)
{
	const struct thread *row = &model->threads.row[thread];

	return row->process >= model->processes.count || model->processes.row[row->process].pid == row->tid;
}

bool lock_turns_between(const struct model *model, uint32_t holder, uint32_t waiter)
{
	struct ended of_holder, of_waiter;

	if (holder >= model->timelines.count || waiter >= model->timelines.count || is_main(model, holder) ||
	    is_main(model, waiter) || !lock_turns_pool(model, holder, waiter))
		return false;
	of_holder = find_ended(model, holder, waiter);
	of_waiter = find_ended(model, waiter, holder);
	if (!matter(model, holder, &of_holder) || !matter(model, waiter, &of_waiter) || !run_apart(model, holder, waiter))
		return false;
	return of_holder.object == of_waiter.object ||
	       model->threads.row[holder].name != model->threads.row[waiter].name;
}
