/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreter.h - reads the state that a language runtime or framework keeps of its threads in a process' memory.
 *
 * An interpreter is a file in its own folder with a struct interpreter, and a line in INTERPRETERS. It provides
 * stacks of functions that the kernel does not see, or the role of each thread. The process is neither stopped nor
 * changed: its memory changes while it is read, and may contain anything. So every address is only ever passed to
 * interpreted_read(), every count is bounded, and inconsistent data are left out.
 * CONTRIBUTING.md has an example.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_INTERPRETER_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/events.h"
#include "bpf/session_maps.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/stacks/stack_table.h"
#include "lib/elf/process_maps.h"

struct interpreters; /* interpreters.h */

/* A target that has, or may have, an interpreter. */
struct interpreted {
	pid_t pid;
	uint64_t now_ns; /* CLOCK_MONOTONIC of the current check */
	bool last_look; /* the last check for an interpreter in this process */
	struct stack_table *table; /* the session's, for frames and stacks */
	struct item_queue *queue; /* the session's, for further packets */
	struct interpreters *owner;
};

/* A function on a thread's stack. */
struct interpreted_frame {
	uint32_t frame; /* id in the session's table; 0 = none: a frame of C code, or the data are no function */
	bool entry; /* the outermost frame of its entry into the interpreter's loop */
};

struct interpreter {
	/* May a mapped file with this path be or contain the interpreter? */
	bool (*file)(const char *path);

	/* ---- Stacks; NULL: it provides none. Called by a session's reader thread. */

	/*
	 * Checks one mapping of such a file for a running interpreter. Called repeatedly, because a process that has just
	 * started takes a while until it has one. Returns the state for sample(), or NULL.
	 */
	void *(*look)(struct interpreted *process, const struct process_map *map);
	/*
	 * Passes a row for each of its threads to interpreted_row(). Not called while the process sleeps: the last rows
	 * are repeated, unless something could not be read, or interpreted_partial() was called.
	 */
	void (*sample)(void *known, struct interpreted *process);
	/*
	 * The functions of a thread, innermost first, as a BPF program read them (python_stack.bpf.h); @into has room
	 * for @count. NULL: no program does.
	 */
	void (*frames)(void *known, struct interpreted *process, const struct rec_python_frame *read, uint32_t count,
		       struct interpreted_frame *into);
	/* Is it an address in the loop in which the functions run? NULL with frames. */
	bool (*loop)(const void *known, uint64_t address);
	/* The process has ended, or begun another program: withdraws published facts. NULL: there are none. */
	void (*forget)(void *known);
	void (*free)(void *known);

	/* ---- Roles of threads whose start was not seen; NULL: it provides none. Called once, when a session begins. */

	/*
	 * The roles of those of @threads, the threads of all targets, that belong to @pid. Returns a THREAD_ROLES item,
	 * or NULL; then *@problem is a constant text if the roles cannot be determined, else NULL.
	 */
	struct item *(*roles)(pid_t pid, const struct thread_pointer *threads, size_t count,
			      const char **problem);
	const char *roles_words; /* "which ... its threads work for": the subject of the message about the problem */
};

/* interpreted_read - reads @size bytes of its memory at @address; 0, or -EFAULT if not all of it can be read */
int interpreted_read(struct interpreted *process, uint64_t address, void *into, size_t size);

/* interpreted_row - adds the row of a thread's stack; fills in its rate */
void interpreted_row(struct interpreted *process, const struct stack_row *row);

/* interpreted_partial - the sample lacks what the next one may have although the process does not run meanwhile */
void interpreted_partial(struct interpreted *process);

/* interpreted_lock - publishes the addresses on which its threads wait for the interpreter's lock, so that such sleeps are recognised */
void interpreted_lock(struct interpreted *process, const struct python_range *range);

/* interpreted_layout, interpreted_state - like capture_python_layout() and capture_python_state(), for this process */
void interpreted_layout(struct interpreted *process, const struct python_layout *layout);
void interpreted_state(struct interpreted *process, uint32_t tid, uint64_t state);

/* interpreted_warn - warns the user, once for each interpreter in a session */
void interpreted_warn(struct interpreted *process, const char *text);

/* interpreted_now - CLOCK_MONOTONIC */
uint64_t interpreted_now(void);

#define INTERPRETERS(INTERPRETER) \
	INTERPRETER(python)       \
	INTERPRETER(mindspore)

#define INTERPRETER_EXTERN(name) extern const struct interpreter interpreter_##name;
INTERPRETERS(INTERPRETER_EXTERN)
#undef INTERPRETER_EXTERN

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_INTERPRETER_H */
