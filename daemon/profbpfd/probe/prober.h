/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prober.h - the thread that probes files which targets map while a session runs.
 *
 * Reading a large library takes longer than the interval at which rings must be
 * drained, so it happens here.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBER_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/probe/probes.h"

struct prober;

/*
 * prober_new - starts the thread, which owns @probes until prober_free()
 *
 * @code_names may be NULL. Returns NULL without memory.
 */
struct prober *prober_new(struct probes *probes, struct code_names *code_names);

/*
 * prober_scan - probes the present mappings of @pid
 *
 * @ts_ns is the time of the event that caused it. @began: the process has just begun, or runs another program; if it
 * ends before its mappings are read, the trace says so.
 */
void prober_scan(struct prober *prober, pid_t pid, bool began, uint64_t ts_ns);

/* prober_forget - @pid has ended at @ended_ns (probes_ended()); UINT64_MAX: whatever process has the id by now */
void prober_forget(struct prober *prober, pid_t pid, uint64_t ended_ns);

/* prober_tail - traced function @probe of @pid tail-jumped to @address; see probes_tail() */
void prober_tail(struct prober *prober, pid_t pid, uint64_t address, uint32_t probe);

/* prober_resolve - looks up the pending addresses in the session's code_names */
void prober_resolve(struct prober *prober);

/* prober_counts - recent values of probes_functions() and probes_files(); may be called by any thread */
void prober_counts(const struct prober *prober, uint32_t *functions, uint32_t *files);

/* prober_free - finishes the current work, drops the rest (the trace names new processes), ends the thread */
void prober_free(struct prober *prober);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBER_H */
