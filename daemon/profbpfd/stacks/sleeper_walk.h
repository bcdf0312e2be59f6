/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleeper_walk.h - the user stack of a thread that sleeps, walked from outside.
 *
 * As the BPF programs walk those of threads that run (bpf/user_stack.bpf.h), by the same rules, but for what only they
 * know: the registers beside those below, and where calls return to whose return addresses are the kernel's.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_WALK_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* As it has them in user space. */
struct sleeper_registers {
	uint64_t instruction, stack_pointer, frame_pointer;
	uint64_t link; /* where the innermost function returns to, if that is not on the stack; else 0 */
};

/* Where rules and memory come from. */
struct sleeper_source {
	/* The rule at @address; false: there is none. *@in_code: it is in code of the process. */
	bool (*rule)(void *context, uint64_t address, struct unwind_rule *rule, bool *in_code);
	/* 0, or a negative errno: not all of it is there */
	int (*read)(void *context, uint64_t address, void *into, size_t size);
	bool whole; /* all code of the process is known: what is in none is no code */
	void *context;
};

/*
 * sleeper_walk - fills @frames with @room (1 at least) addresses at most; how many
 *
 * The first is where the thread goes on, the others are return addresses, the innermost first; one that a signal interrupted
 * is told as if it were one. *@whole: the thread began at the last one; else that is not known.
 */
uint32_t sleeper_walk(const struct sleeper_registers *registers, const struct sleeper_source *source, uint64_t *frames,
		      uint32_t room, bool *whole);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_WALK_H */
