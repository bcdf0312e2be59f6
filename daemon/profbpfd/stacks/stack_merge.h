/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_merge.h - an interpreter's functions in the place of its loop in a native stack.
 *
 * A native stack has one frame of the loop for each entry into it; the interpreter has one or more functions for each.
 * Where none of these is known, because the process has ended meanwhile or has just entered the loop, its frame stays.
 * Both are of one instant, so the outermost entries belong to the outermost frames of the loop. There may be more frames of
 * the loop: where it has just been entered. Where one of both stacks ends early they are put together from the innermost one.
 * There may be fewer, if a part of the loop that the compiler has put elsewhere was not found (lib/elf/split_part.h). Then the native frames
 * between the functions are left out. Where not all functions are there, no frames below them are: what called them is not known.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_MERGE_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/events.h"
#include "daemon/profbpfd/interpreters/interpreter.h"

#define STACK_MERGED_MAX (REC_USER_FRAMES + REC_PYTHON_FRAMES)

struct native_frame {
	uint32_t frame; /* of the session's table */
	bool loop; /* of the interpreter's loop */
};

/* Frames, innermost first; whole: down to where the thread began. */
struct stack_parts {
	const struct native_frame *native;
	uint32_t native_count;
	bool native_whole;
	const struct interpreted_frame *python;
	uint32_t python_count;
	bool python_whole;
};

/* stack_merge - into @into, which has room for both; how many frames */
uint32_t stack_merge(const struct stack_parts *parts, uint32_t *into);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_MERGE_H */
