/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/lock_turns.h"

#include <string.h>

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

/* Returns the number of a thread's sleeps for futexes that another one ended; *@object: the last one's object. */
static uint32_t count_ended(const struct model *model, uint32_t thread, uint32_t by, uint32_t *object)
{
	const struct timeline *line = &model->timelines.row[thread];
	uint32_t count = 0;

	for (uint32_t i = line->first; i < line->first + line->count; i++) {
		const struct span *span = &model->spans.row[i];

		if (span->state != STATE_SLEEP || !span_woken_by_thread(span) || span->other != by ||
		    !is_futex(model, span))
			continue;
		count++;
		*object = span->object;
	}
	return count;
}

static bool is_main(const struct model *model, uint32_t thread)
{
	const struct thread *row = &model->threads.row[thread];

	return row->process >= model->processes.count || model->processes.row[row->process].pid == row->tid;
}

bool lock_turns_between(const struct model *model, uint32_t holder, uint32_t waiter)
{
	uint32_t of_holder = INDEX_NONE, of_waiter = INDEX_NONE;

	if (holder >= model->timelines.count || waiter >= model->timelines.count || is_main(model, holder) ||
	    is_main(model, waiter) || !lock_turns_pool(model, holder, waiter))
		return false;
	if (count_ended(model, holder, waiter, &of_holder) < TURNS_MIN ||
	    count_ended(model, waiter, holder, &of_waiter) < TURNS_MIN)
		return false;
	return of_holder == of_waiter || model->threads.row[holder].name != model->threads.row[waiter].name;
}
