/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/code_frames.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bisect.h"
#include "lib/elf/stack_effect.h"

#define STATES_MAX 4096 /* distinct states of a span */
#define STATE_PLACES (2 * STATES_MAX)
#define PLACES_TRIED 64 /* hash slots tried for a state: hostile code can make all states collide */
#define STEPS_PER_BYTE 2 /* instructions that are decoded, and STEPS_LEAST; code that asks for more was made up */
#define STEPS_LEAST 1024
#define ROUNDS_MAX 8 /* rounds of the search for the targets of indirect jumps */
#define PADDING_MAX 64 /* bytes between two pieces of code */

#define NOT_REACHED 0
#define LOST 1 /* reached with stacks that do not fit together */

struct follow {
	const struct code_span *span;
	uint32_t size;
	struct stack_decoder *decoder;
	struct stack_state *states;
	uint32_t state_count;
	uint16_t *places; /* of states, by their bytes */
	uint16_t *state; /* of each byte that an instruction begins at: a number of "states" */
	uint8_t *length; /* of the instruction that begins there */
	uint32_t *next; /* places to follow the code from */
	size_t next_count, next_capacity;
	uint32_t *jumps; /* indirect jumps */
	size_t jump_count, jump_capacity;
	const struct code_entry *entry; /* the entries in the span */
	size_t entries;
	bool *counts; /* per entry: it is certain, or its code is not reached otherwise */
	uint64_t steps; /* instructions that may still be decoded */
	bool failed; /* no memory */
	bool tired; /* the limit of steps was reached: the states found so far may be wrong */
};

static void *grow(void *array, size_t count, size_t *capacity, size_t size)
{
	size_t larger = *capacity ? *capacity * 2 : 256;
	void *grown;

	if (count < *capacity)
		return array;
	grown = reallocarray(array, larger, size);
	if (grown)
		*capacity = larger;
	return grown;
}

/* FNV-1a */
static uint32_t hash_of(const struct stack_state *state)
{
	const uint8_t *byte = (const uint8_t *)state;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < sizeof(*state); i++)
		hash = (hash ^ byte[i]) * 16777619u;
	return hash;
}

/* The number of a state; LOST if there are too many states. */
static uint16_t number_of(struct follow *f, const struct stack_state *state)
{
	uint32_t place = hash_of(state), last = place + PLACES_TRIED;

	if (state->pointer_kind == STACK_POINTER_LOST)
		return LOST;
	for (;; place++) {
		uint16_t number = f->places[place % STATE_PLACES];

		if (number && !memcmp(&f->states[number], state, sizeof(*state)))
			return number;
		if (!number)
			break;
		if (place == last)
			return LOST;
	}
	if (f->state_count == STATES_MAX)
		return LOST;
	f->states[f->state_count] = *state;
	f->places[place % STATE_PLACES] = (uint16_t)f->state_count;
	return (uint16_t)f->state_count++;
}

/* Execution continues at byte @at with @state. */
static void reach(struct follow *f, uint32_t at, uint16_t state)
{
	uint16_t before = f->state[at], now = state;
	uint32_t *grown;

	if (before && before != state) {
		struct stack_state joined = f->states[before];

		now = before == LOST || state == LOST || !stack_state_join(&joined, &f->states[state]) ?
			      LOST :
			      number_of(f, &joined);
	}
	if (now == before)
		return;
	/* Joined states know ever less, so that this ends. */
	f->state[at] = now;
	grown = grow(f->next, f->next_count, &f->next_capacity, sizeof(*f->next));
	if (!grown) {
		f->failed = true;
		return;
	}
	f->next = grown;
	f->next[f->next_count++] = at;
}

static void reach_address(struct follow *f, uint64_t address, uint16_t state)
{
	if (address >= f->span->first && address - f->span->first < f->size)
		reach(f, (uint32_t)(address - f->span->first), state);
}

static bool is_entry(const struct follow *f, uint64_t address)
{
	size_t i = BISECT(k, 0, f->entries, f->entry[k].address < address);

	return i < f->entries && f->entry[i].address == address && f->entry[i].sure;
}

static void note_jump(struct follow *f, uint32_t at)
{
	uint32_t *grown = grow(f->jumps, f->jump_count, &f->jump_capacity, sizeof(*f->jumps));

	if (!grown) {
		f->failed = true;
		return;
	}
	f->jumps = grown;
	f->jumps[f->jump_count++] = at;
}

static struct stack_step decode(struct follow *f, uint32_t at, struct stack_state *state)
{
	if (!f->steps) {
		f->tired = true;
		return (struct stack_step){ .flow = FLOW_UNKNOWN };
	}
	f->steps--;
	return stack_effect(f->decoder, f->span->code + at, f->size - at, f->span->first + at, state);
}

/* Follows one instruction to its successors. */
static void follow_once(struct follow *f, uint32_t at)
{
	const struct stack_state before = f->states[f->state[at]];
	struct stack_state called = stack_state_called(&before), state = before;
	struct stack_step step = decode(f, at, &state);
	uint64_t behind = f->span->first + at + step.size;
	bool again = f->length[at]; /* in another state than before */
	/* Most instructions do not change the state. */
	bool same = f->state[at] == LOST || !memcmp(&state, &before, sizeof(state));
	uint16_t after = same ? f->state[at] : number_of(f, &state);

	f->length[at] = (uint8_t)step.size;
	switch (step.flow) {
	case FLOW_NEXT:
		if (step.call)
			reach_address(f, step.target, number_of(f, &called));
		/* A call that does not return may end a function. */
		if (!step.call || !is_entry(f, behind))
			reach_address(f, behind, after);
		break;
	case FLOW_BRANCH:
		reach_address(f, behind, after);
		reach_address(f, step.target, after);
		break;
	case FLOW_JUMP: reach_address(f, step.target, after); break;
	case FLOW_INDIRECT:
		if (!again)
			note_jump(f, at);
		break;
	default: break;
	}
}

static void follow_all(struct follow *f)
{
	while (f->next_count && !f->failed && !f->tired)
		follow_once(f, f->next[--f->next_count]);
}

static int by_place(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The state of all jumps before @to, of @count in order, from number *@jump on; 0: there are none, or it differs. */
static uint16_t state_of_jumps(const struct follow *f, size_t count, size_t *jump, uint32_t to)
{
	uint16_t state = NOT_REACHED;
	bool same = true;

	for (; *jump < count && f->jumps[*jump] < to; ++*jump) {
		uint16_t own = f->state[f->jumps[*jump]];

		same = same && own != LOST && (!state || state == own);
		state = own;
	}
	return same ? state : NOT_REACHED;
}

/* Marks the code from @from to @to that was not reached yet as reached with @state. */
static bool seed(struct follow *f, uint32_t from, uint32_t to, uint16_t state)
{
	uint32_t at = from, padding = 0;
	bool any = false;

	while (at < to && padding < PADDING_MAX) {
		struct stack_state scratch = stack_state_begin();
		struct stack_step step = decode(f, at, &scratch);

		if (!step.size)
			break;
		if (f->state[at]) {
			padding = 0;
		} else if (step.padding) {
			padding += step.size;
		} else {
			reach(f, at, state);
			follow_all(f);
			padding = 0;
			any = true;
		}
		at += step.size;
	}
	return any;
}

/* The end of the function of entry @i: the start of the next one. */
static uint32_t end_of(const struct follow *f, size_t i)
{
	for (i++; i < f->entries; i++)
		if (f->counts[i])
			return (uint32_t)(f->entry[i].address - f->span->first);
	return f->size;
}

/* Follows indirect jumps with unknown targets, function by function. Returns true if new code was reached. */
static bool follow_jumps(struct follow *f)
{
	size_t jump = 0, count = f->jump_count; /* more may come */
	bool any = false;

	if (!count)
		return false;
	qsort(f->jumps, count, sizeof(*f->jumps), by_place);
	for (size_t i = 0; i < f->entries && !f->failed && !f->tired; i++) {
		uint32_t end = f->counts[i] ? end_of(f, i) : 0;
		uint16_t state = end ? state_of_jumps(f, count, &jump, end) : NOT_REACHED;

		if (state)
			any |= seed(f, (uint32_t)(f->entry[i].address - f->span->first), end, state);
	}
	return any;
}

static void follow_entries(struct follow *f, bool sure)
{
	const struct stack_state first = stack_state_begin();
	unsigned int rounds = 0;

	for (size_t i = 0; i < f->entries && !f->failed && !f->tired; i++) {
		uint32_t at = (uint32_t)(f->entry[i].address - f->span->first);

		if (f->entry[i].sure != sure || (!sure && f->state[at]))
			continue;
		f->counts[i] = true;
		reach(f, at, number_of(f, &first));
		follow_all(f);
	}
	while (!f->failed && !f->tired && rounds++ < ROUNDS_MAX && follow_jumps(f))
		;
}

static int hand_out(const struct follow *f, frame_rule_taker *take, void *context)
{
	const struct frame_rule none = { .kind = FRAME_RULE_NONE };
	uint16_t last = NOT_REACHED;
	uint32_t end = 0; /* of the last instruction */
	int err = f->size && f->state[0] && !f->tired ? 0 : take(context, f->span->first, &none);

	for (uint32_t at = 0; at < f->size && !err && !f->tired; at++) {
		struct frame_rule rule = none;

		if (!f->state[at] && (at < end || !last))
			continue;
		if (f->state[at] && f->state[at] != last)
			rule = stack_state_rule(&f->states[f->state[at]]);
		if (f->state[at] != last)
			err = take(context, f->span->first + at, &rule);
		last = f->state[at];
		end = at + f->length[at];
	}
	return err;
}

static bool begin(struct follow *f, const struct code_span *span, const struct code_entry *entry, size_t entries)
{
	uint64_t size = span->end - span->first;
	size_t first = BISECT(i, 0, entries, entry[i].address < span->first);

	f->span = span;
	f->size = size < CODE_FRAMES_BYTES_MAX ? (uint32_t)size : CODE_FRAMES_BYTES_MAX;
	f->entry = first ? entry + first : entry;
	f->entries = BISECT(i, first, entries, entry[i].address < span->first + f->size) - first;
	f->decoder = stack_decoder_new();
	f->states = calloc(STATES_MAX, sizeof(*f->states));
	f->places = calloc(STATE_PLACES, sizeof(*f->places));
	f->state = calloc(f->size + 1ull, sizeof(*f->state));
	f->length = calloc(f->size + 1ull, sizeof(*f->length));
	f->counts = calloc(f->entries + 1, sizeof(*f->counts));
	f->state_count = LOST + 1;
	f->steps = (uint64_t)STEPS_PER_BYTE * f->size + STEPS_LEAST;
	return f->counts && f->decoder && f->states && f->places && f->state && f->length;
}

static void end(struct follow *f)
{
	stack_decoder_free(f->decoder);
	free(f->states);
	free(f->places);
	free(f->state);
	free(f->counts);
	free(f->length);
	free(f->next);
	free(f->jumps);
}

int code_frames_run(const struct code_span *span, const struct code_entry *entry, size_t entries,
		    frame_rule_taker *take, void *context)
{
	struct follow f = { 0 };
	int err = -ENOMEM;

	if (begin(&f, span, entry, entries)) {
		follow_entries(&f, true);
		follow_entries(&f, false);
		if (!f.failed)
			err = hand_out(&f, take, context);
	}
	end(&f);
	return err;
}
