/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_live.h - lets BPF programs find the functions of a process's Python threads (bpf/python_stack.bpf.h).
 *
 * The programs get the layout of the process' version, and the address of each thread's PyThreadState. They know a thread
 * from the first check of the process after the thread's start on.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_LIVE_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_LIVE_H

#include "daemon/profbpfd/interpreters/interpreter.h"
#include "daemon/profbpfd/interpreters/python/python_read.h"

struct python_live;

/* python_live_new - publishes the layout; @process must outlive it. @lock: address of the interpreter's lock, 0 = unknown. NULL without memory. */
struct python_live *python_live_new(struct interpreted *process, const struct python_offsets *offsets, uint64_t lock);
void python_live_free(struct python_live *live);

/*
 * python_live_thread - publishes the PyThreadState of thread @tid, which a check has found
 * python_live_looked - ends a check: threads that it did not find have ended
 */
void python_live_thread(struct python_live *live, uint32_t tid, uint64_t state);
void python_live_looked(struct python_live *live);

/* python_live_forget - withdraws everything that was published */
void python_live_forget(struct python_live *live);

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_LIVE_H */
