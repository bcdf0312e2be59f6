/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/sleeper_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/profbpfd/host/thread_awake.h"
#include "daemon/profbpfd/interpreters/memory_pages.h"
#include "daemon/profbpfd/stacks/sleeper_walk.h"
#include "daemon/profbpfd/stacks/unwinder.h"

struct sleepers {
	struct memory_pages *memory;
	struct unwinder_session *unwinding; /* for the current walk; NULL if there are no tables */
	struct unwind_process known;
	struct {
		struct rec_stack head;
		uint64_t address[REC_USER_FRAMES + REC_KERNEL_FRAMES];
	} record;
};

struct sleepers *sleepers_new(const struct right *right)
{
	struct sleepers *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->memory = memory_pages_new();
	if (!s->memory) {
		free(s);
		return NULL;
	}
	memory_pages_limit(s->memory, right);
	return s;
}

void sleepers_free(struct sleepers *s)
{
	if (!s)
		return;
	memory_pages_free(s->memory);
	free(s);
}

static bool rule_at(void *context, uint64_t address, struct unwind_rule *rule, bool *in_code)
{
	struct sleepers *s = context;

	*in_code = false;
	return s->unwinding && unwinder_rule(s->unwinding, &s->known, address, rule, in_code);
}

static int read_memory(void *context, uint64_t address, void *into, size_t size)
{
	struct sleepers *s = context;

	return memory_pages_read(s->memory, address, into, size);
}

/* Reads a file of the thread in /proc into @text, with a NUL. */
static bool read_thread(uint32_t tgid, uint32_t tid, const char *name, char *text, size_t size)
{
	char path[64];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/%s", tgid, tid, name);
	file = fopen(path, "re");
	n = file ? fread(text, 1, size - 1, file) : 0;
	if (file)
		fclose(file);
	text[n] = '\0';
	return n > 0;
}

/*
 * Compares the thread's CPU time with @ran_ns. Without CONFIG_SCHED_INFO the answer is not known: returns true. The
 * state comes first: see thread_awake.h.
 */
static bool has_run(uint32_t tgid, uint32_t tid, uint64_t ran_ns)
{
	uint64_t now_ns = 0;
	char text[128];

	return thread_awake(tgid, tid) || !read_thread(tgid, tid, "schedstat", text, sizeof(text)) ||
	       sscanf(text, "%" SCNu64, &now_ns) != 1 || now_ns != ran_ns;
}

/* Returns the number of frames in the record. */
static uint32_t walk(struct sleepers *s, struct unwinder_session *unwinding, const struct rec_stack *r, bool *whole)
{
	const uint64_t *word = (const uint64_t *)(r + 1);
	struct sleeper_registers registers = { word[SLEEPER_INSTRUCTION], word[SLEEPER_STACK_POINTER],
					       word[SLEEPER_FRAME_POINTER], word[SLEEPER_LINK] };
	struct sleeper_source source = { rule_at, read_memory, false, s };
	bool known = unwinding && unwinder_known(unwinding, (pid_t)r->tgid, &s->known);
	uint32_t count;

	*whole = false;
	s->record.address[0] = registers.instruction;
	if (!registers.stack_pointer)
		return 1;
	s->unwinding = known ? unwinding : NULL;
	source.whole = known && s->known.whole;
	memory_pages_begin(s->memory, (pid_t)r->tgid, NULL);
	count = sleeper_walk(&registers, &source, s->record.address, REC_USER_FRAMES, whole);
	if (!has_run(r->tgid, r->tid, word[SLEEPER_RAN_NS]) &&
	    (!known || unwinder_knows(unwinding, (pid_t)r->tgid, &s->known)))
		return count;
	*whole = false;
	return 1;
}

const struct rec_stack *sleepers_walk(struct sleepers *s, struct unwinder_session *unwinding, const struct rec_stack *r)
{
	struct rec_stack *head = &s->record.head;
	bool whole;

	if (r->user_frames != SLEEPER_WORDS || r->kernel_frames > REC_KERNEL_FRAMES)
		return NULL;
	*head = *r;
	head->python_frames = 0;
	head->user_frames = walk(s, unwinding, r, &whole);
	if (whole)
		head->header.flags |= STACK_WHOLE;
	memcpy(s->record.address + head->user_frames, (const uint64_t *)(r + 1) + SLEEPER_WORDS,
	       r->kernel_frames * sizeof(uint64_t));
	return head;
}
