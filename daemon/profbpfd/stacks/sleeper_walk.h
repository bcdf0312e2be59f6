/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleeper_walk.h - unwinds the user stack of a sleeping thread of another process.
 *
 * It follows the same rules as the BPF programs do for the running thread (bpf/user_stack.bpf.h). It does not know the thread's
 * other registers, nor the original return addresses of calls that a return probe has redirected; the walk ends there.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_WALK_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* The thread's registers in user space. */
struct sleeper_registers {
	uint64_t instruction, stack_pointer, frame_pointer;
	uint64_t link; /* return address of the innermost function if it is in a register (arm64); else 0 */
};

/* Gives the walk unwind rules and memory. */
struct sleeper_source {
	/* Finds the rule at @address; false if there is none. *@in_code tells whether a mapping of code holds @address. */
	bool (*rule)(void *context, uint64_t address, struct unwind_rule *rule, bool *in_code);
	/* Returns 0, or a negative errno if some of the memory cannot be read. */
	int (*read)(void *context, uint64_t address, void *into, size_t size);
	bool whole; /* all mappings of code are known: a return address outside of them ends the walk */
	void *context;
};

/*
 * sleeper_walk - write up to @room (at least 1) addresses to @frames, the innermost first; returns how many
 *
 * The first address is the thread's current instruction, the others are return addresses. The address at which a signal
 * interrupted a function is increased by one, so that the caller may treat it as a return address. *@whole is set if the last
 * frame is known to be the first one of the thread.
 */
uint32_t sleeper_walk(const struct sleeper_registers *registers, const struct sleeper_source *source, uint64_t *frames,
		      uint32_t room, bool *whole);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_WALK_H */
