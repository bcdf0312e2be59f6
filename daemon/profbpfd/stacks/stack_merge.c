/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/stack_merge.h"

struct merge {
	const struct stack_parts *parts;
	uint32_t next; /* index of the next interpreter frame */
	uint32_t *into;
	uint32_t count;
};

static uint32_t count_loops(const struct stack_parts *parts)
{
	uint32_t loops = 0;

	for (uint32_t i = 0; i < parts->native_count; i++)
		loops += parts->native[i].loop;
	return loops;
}

/* The outermost frame counts as an entry: the stack may have been cut off before it. */
static uint32_t count_entries(const struct stack_parts *parts)
{
	uint32_t entries = 0;

	for (uint32_t i = 0; i < parts->python_count; i++)
		entries += parts->python[i].entry || i == parts->python_count - 1;
	return entries;
}

static bool some_known(const struct stack_parts *parts)
{
	for (uint32_t i = 0; i < parts->python_count; i++)
		if (parts->python[i].frame)
			return true;
	return false;
}

static void put(struct merge *m, uint32_t frame)
{
	if (frame)
		m->into[m->count++] = frame;
}

/* Puts the functions of the next entry; returns false if none of them is known. */
static bool put_entry(struct merge *m)
{
	const struct stack_parts *parts = m->parts;
	uint32_t before = m->count;

	while (m->next < parts->python_count) {
		const struct interpreted_frame *frame = &parts->python[m->next++];

		put(m, frame->frame);
		if (frame->entry)
			break;
	}
	return m->count > before;
}

/* Puts the functions of all remaining entries. */
static void put_rest(struct merge *m)
{
	while (m->next < m->parts->python_count)
		put_entry(m);
}

/* Replaces each frame of the loop, except the innermost @bare ones, by the functions of one entry. */
static void put_by_entry(struct merge *m, uint32_t bare)
{
	const struct stack_parts *parts = m->parts;

	for (uint32_t i = 0; i < parts->native_count; i++) {
		const struct native_frame *native = &parts->native[i];

		if (native->loop && bare)
			bare--;
		else if (native->loop && put_entry(m)) {
			if (m->next == parts->python_count && !parts->python_whole)
				return;
			continue;
		}
		put(m, native->frame);
	}
	put_rest(m);
}

/* Replaces all frames from the innermost to the outermost frame of the loop by all functions. */
static void put_in_one(struct merge *m, uint32_t loops)
{
	const struct stack_parts *parts = m->parts;
	uint32_t passed = 0;

	for (uint32_t i = 0; i < parts->native_count; i++) {
		passed += parts->native[i].loop;
		if (passed == 0 || (passed == loops && !parts->native[i].loop))
			put(m, parts->native[i].frame);
		else if (passed == 1)
			put_rest(m);
	}
}

uint32_t stack_merge(const struct stack_parts *parts, uint32_t *into)
{
	struct merge m = { .parts = parts, .into = into };
	uint32_t loops = count_loops(parts), entries = count_entries(parts);
	bool whole = parts->native_whole && parts->python_whole;

	if (whole && loops && loops < entries && some_known(parts))
		put_in_one(&m, loops);
	else
		put_by_entry(&m, whole && loops > entries ? loops - entries : 0);
	return m.count;
}
