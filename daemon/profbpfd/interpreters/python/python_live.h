/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_live.h - lets BPF programs find the functions of a process's Python threads (bpf/python_stack.bpf.h).
 *
 * They are given the layout of the process's version, and for each thread where its PyThreadState is: a thread is known
 * to them from the first look at the process after its start on.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_LIVE_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_LIVE_H

#include "daemon/profbpfd/interpreters/interpreter.h"
#include "daemon/profbpfd/interpreters/python/python_read.h"

struct python_live;

/* python_live_new - tells the layout; @process must outlive it. @lock: of its interpreter, 0 = not known. NULL without memory. */
struct python_live *python_live_new(struct interpreted *process, const struct python_offsets *offsets, uint64_t lock);
void python_live_free(struct python_live *live);

/* python_live_thread - a thread as a look found it. python_live_looked - that was the last one: others have ended. */
void python_live_thread(struct python_live *live, const struct python_thread *thread);
void python_live_looked(struct python_live *live);

/* python_live_forget - takes back all that was told */
void python_live_forget(struct python_live *live);

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_LIVE_H */
