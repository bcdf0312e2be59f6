/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/call_digest.h"

#include <stdlib.h>

#include "analyzer/join/launch/call_kind.h"
#include "analyzer/load/load_judge.h"

#define ROWS_MAX 65536 /* a job has some hundred; a call that needs a further row sets survey.too_many */
#define WAITING_MAX 1024 /* of a thread; each of its calls is compared with all of them */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static bool alike(const struct counted_call *a, const struct counted_call *b)
{
	const struct call *x = &a->call, *y = &b->call;

	return x->function == y->function && x->thread == y->thread && x->flags == y->flags &&
	       x->args[0] == y->args[0] && x->args[1] == y->args[1] && x->args[2] == y->args[2] &&
	       a->unsure == b->unsure;
}

static void merge(struct counted_call *to, const struct counted_call *from)
{
	to->count += from->count;
	if (from->call.start_ns > to->call.start_ns)
		to->call.start_ns = from->call.start_ns;
	if (from->shortest_ns < to->shortest_ns)
		to->shortest_ns = from->shortest_ns;
	if (from->first_end_ns < to->first_end_ns)
		to->first_end_ns = from->first_end_ns;
	if (from->last_end_ns > to->last_end_ns)
		to->last_end_ns = from->last_end_ns;
}

/* Returns the row of equal calls; INDEX_NONE: there is none yet, and *@key is free for it. */
static uint32_t find_row(const struct call_digest *digest, const struct counted_call *row,
			 uint64_t *key)
{
	uint32_t index;

	*key = mix(mix(row->call.thread, row->call.function),
		   (uint64_t)row->call.flags << 8 | row->unsure);
	for (int i = 0; i < 3; i++)
		*key = mix(*key, row->call.args[i]);
	while ((index = map_get(&digest->row_map, *key)) != MAP_NONE &&
	       !alike(&digest->model->counted_calls.row[index], row))
		++*key;
	return index;
}

/* Most calls belong to few kinds. */
static bool count(struct call_digest *digest, const struct counted_call *row)
{
	struct model *model = digest->model;
	uint32_t *recent =
		&digest->recent[(row->call.thread * 31 + row->call.function) % DIGEST_RECENT];
	uint32_t index = *recent - 1;
	uint64_t key;

	if (!*recent || !alike(&model->counted_calls.row[index], row))
		index = find_row(digest, row, &key);
	if (index != MAP_NONE) {
		merge(&model->counted_calls.row[index], row);
		*recent = index + 1;
		return true;
	}
	if (model->counted_calls.count == ROWS_MAX) {
		model->survey.too_many = true;
		return true;
	}
	return map_put(&digest->row_map, key, model->counted_calls.count) &&
	       MODEL_PUSH(&model->counted_calls, *row);
}

static struct digest_thread *thread_of(struct call_digest *digest, uint32_t tid)
{
	const struct digest_thread new = { .tid = tid };
	uint32_t *seen = &digest->seen[tid % DIGEST_SEEN];

	if (*seen < digest->threads.count && digest->threads.row[*seen].tid == tid)
		return &digest->threads.row[*seen];
	*seen = map_get(&digest->thread_map, tid);
	if (*seen == MAP_NONE) {
		*seen = digest->threads.count;
		if (!map_put(&digest->thread_map, tid, *seen) || !MODEL_PUSH(&digest->threads, new))
			return NULL;
	}
	return &digest->threads.row[*seen];
}

static const struct function *function_of(const struct call_digest *digest, const struct call *call)
{
	return &digest->model->functions.row[call->function];
}

static bool is_part_of(const struct call_digest *digest, const struct waiting_call *inner)
{
	uint8_t flag = function_submits(function_of(digest, &inner->row.call)) ? MODEL_CALL_PART
									      : MODEL_CALL_INNER;

	return inner->row.call.flags & flag;
}

enum found { FOUND_MORE, FOUND_ALL };

/* @outer has a lower depth than the waiting call @inner. Can a further call around @inner change its flags? */
static enum found look_around(const struct call_digest *digest, struct waiting_call *inner,
			      const struct call *outer)
{
	const struct function *a = function_of(digest, &inner->row.call);
	const struct function *b = function_of(digest, outer);

	/* @outer is around other calls of that depth, or from an earlier time, on another CPU. */
	if (outer->depth > inner->next || outer->end_ns <= inner->first_start_ns)
		return FOUND_MORE;
	if (outer->start_ns > inner->first_start_ns || outer->end_ns < inner->row.last_end_ns) {
		inner->row.unsure = COUNTED_INSIDE;
		return FOUND_ALL;
	}
	if (a->family == b->family) {
		inner->row.call.flags |= MODEL_CALL_INNER;
		if (function_submits(a) && function_submits(b))
			inner->row.call.flags |= MODEL_CALL_PART;
	}
	if (outer->depth != inner->next)
		inner->row.unsure = COUNTED_INSIDE;
	inner->next = (uint8_t)(outer->depth - 1);
	if (!is_part_of(digest, inner))
		return outer->depth ? FOUND_MORE : FOUND_ALL;
	inner->row.unsure = 0;
	return FOUND_ALL;
}

static bool settle(struct call_digest *digest, struct digest_thread *thread, const struct call *outer)
{
	uint32_t left = 0;
	bool ok = true;

	for (uint32_t i = 0; i < thread->waiting.count; i++) {
		struct waiting_call *inner = &thread->waiting.row[i];

		if (outer->depth >= inner->depth ||
		    look_around(digest, inner, outer) == FOUND_MORE)
			thread->waiting.row[left++] = *inner;
		else
			ok = ok && count(digest, &inner->row);
	}
	thread->waiting.count = left;
	return ok;
}

static bool is_telling(uint8_t role)
{
	return role == PROFBPF__FUNCTION__ROLE__STREAM ||
	       role == PROFBPF__FUNCTION__ROLE__BLOCKING ||
	       role == PROFBPF__FUNCTION__ROLE__COPY_KIND;
}

/* Fills a row of zeros in place: copying one whose members were just written waits for all of these. */
static void fill_row(const struct call_digest *digest, const struct call *call, struct counted_call *row)
{
	const struct function *function = function_of(digest, call);

	row->count = 1;
	row->shortest_ns = call->end_ns - call->start_ns;
	row->first_end_ns = row->last_end_ns = call->end_ns;
	row->call.thread = call->thread;
	row->call.function = call->function;
	row->call.flags = call->flags;
	row->call.task = INDEX_NONE;
	if (load_is_error(function, call))
		row->call.flags |= MODEL_CALL_ERROR;
	if (call->end_ns < digest->model->survey.from_ns)
		row->call.start_ns = call->start_ns;
	for (int i = 0; i < 3; i++)
		row->call.args[i] = is_telling(function->roles[i]) ? call->args[i] : 0;
}

/* Notes a call that waits for the calls around it. */
static bool wait_for_outer(struct call_digest *digest, struct digest_thread *thread,
			   const struct call *call)
{
	struct waiting_call *new;

	if (!MODEL_PUSH(&thread->waiting, (struct waiting_call){ 0 }))
		return false;
	new = &thread->waiting.row[--thread->waiting.count];
	fill_row(digest, call, &new->row);
	new->first_start_ns = call->start_ns;
	new->depth = call->depth;
	new->next = (uint8_t)(call->depth - 1);
	for (struct waiting_call *other = thread->waiting.row; other < new; other++) {
		if (other->depth != new->depth || other->next != new->next ||
		    !alike(&other->row, &new->row))
			continue;
		merge(&other->row, &new->row);
		if (new->first_start_ns < other->first_start_ns)
			other->first_start_ns = new->first_start_ns;
		return true;
	}
	if (thread->waiting.count == WAITING_MAX)
		digest->model->survey.too_many = true;
	else
		thread->waiting.count++;
	return true;
}

bool digest_call(struct call_digest *digest, const struct call *call, bool kept)
{
	const struct function *function = function_of(digest, call);
	struct digest_thread *thread = thread_of(digest, call->thread);
	struct counted_call row = { 0 };

	if (!thread)
		return false;
	if (thread->waiting.count && !settle(digest, thread, call))
		return false;
	if (kept || !(function_submits(function) ||
		      function->kind == PROFBPF__FUNCTION__KIND__SYNC))
		return true;
	if (call->depth)
		return wait_for_outer(digest, thread, call);
	fill_row(digest, call, &row);
	return count(digest, &row);
}

/* Counts the calls whose enclosing calls were not found, as unsure. */
static bool count_waiting(struct call_digest *digest)
{
	bool ok = true;

	for (uint32_t t = 0; t < digest->threads.count; t++) {
		struct digest_thread *thread = &digest->threads.row[t];

		for (uint32_t i = 0; i < thread->waiting.count && ok; i++) {
			thread->waiting.row[i].row.unsure = COUNTED_INSIDE;
			ok = count(digest, &thread->waiting.row[i].row);
		}
	}
	return ok;
}

static uint32_t count_lives(const struct model *model, uint32_t tid)
{
	uint32_t lives = 0;

	for (uint32_t i = 0; i < model->threads.count; i++)
		lives += model->threads.row[i].tid == tid;
	return lives;
}

/* Two successive threads had the same id: each of the calls may belong to either of them. */
static bool add_other_life(struct model *model, uint32_t index, uint32_t other)
{
	struct counted_call *row = &model->counted_calls.row[index];
	struct counted_call copy;

	if (count_lives(model, model->threads.row[other].tid) > 2)
		model->survey.too_many = true;
	row->unsure |= COUNTED_THREAD;
	copy = *row;
	copy.call.thread = other;
	return MODEL_PUSH(&model->counted_calls, copy);
}

/* Drops calls of threads that are not in the model. */
static void drop_unknown(struct call_digest *digest)
{
	struct model *model = digest->model;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < model->counted_calls.count; i++) {
		struct counted_call *row = &model->counted_calls.row[i];

		if (model_thread_at(model, row->call.thread, row->last_end_ns) != INDEX_NONE)
			model->counted_calls.row[kept++] = *row;
	}
	model->counted_calls.count = kept;
}

bool digest_finish(struct call_digest *digest)
{
	struct model *model = digest->model;
	uint32_t count;
	bool ok = true;

	if (!digest->wanted)
		return true;
	if (!count_waiting(digest))
		return false;
	drop_unknown(digest);
	count = model->counted_calls.count;
	for (uint32_t i = 0; i < count && ok; i++) {
		struct counted_call *row = &model->counted_calls.row[i];
		uint32_t tid = row->call.thread;
		uint32_t last = model_thread_at(model, tid, row->last_end_ns);

		row->call.thread = model_thread_at(model, tid, row->first_end_ns);
		if (row->call.thread != last)
			ok = add_other_life(model, i, last);
	}
	return ok;
}

void digest_free(struct call_digest *digest)
{
	for (uint32_t t = 0; t < digest->threads.count; t++)
		free(digest->threads.row[t].waiting.row);
	free(digest->threads.row);
	map_free(&digest->row_map);
	map_free(&digest->thread_map);
}
