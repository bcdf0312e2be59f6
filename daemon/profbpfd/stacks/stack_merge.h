/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_merge.h - replaces the frames of an interpreter's loop in a native stack by the interpreter's functions.
 *
 * A native stack has one frame of the loop for each entry into it; the interpreter has one or more functions for each
 * entry. If none of these is known, because the process has ended or has just entered the loop, the loop's frame stays.
 * Both stacks are of one instant, so the outermost entries belong to the outermost frames of the loop; there is one more
 * frame of the loop if it has just been entered. If one of the stacks is cut off, they are matched from the innermost
 * frame instead. There may be fewer frames of the loop, if a part that the compiler has split off was not found
 * (lib/elf/split_part.h): then the native frames between the functions are left out. If functions are missing at the
 * outer end, the native frames outside of them are left out, too, because the callers are unknown.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_MERGE_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/events.h"
#include "daemon/profbpfd/interpreters/interpreter.h"

#define STACK_MERGED_MAX (REC_USER_FRAMES + REC_PYTHON_FRAMES)

struct native_frame {
	uint32_t frame; /* id in the session's table */
	bool loop; /* a frame of the interpreter's loop */
};

/* Frames, innermost first; whole: the outermost frame is the thread's first. */
struct stack_parts {
	const struct native_frame *native;
	uint32_t native_count;
	bool native_whole;
	const struct interpreted_frame *python;
	uint32_t python_count;
	bool python_whole;
};

/* stack_merge - writes the result to @into, which has room for both; returns the number of frames */
uint32_t stack_merge(const struct stack_parts *parts, uint32_t *into);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_MERGE_H */
