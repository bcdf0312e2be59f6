/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probes.h - which functions of which files are probed in which processes.
 *
 * A file is known by device and inode, and read once (file_cache.h). Breakpoints are
 * put into the traced processes only, as long as other processes map the file
 * too. If none does and children are followed, they are put into the file itself,
 * for whoever maps it: then a child runs into them from its first instruction. The same
 * if many traced processes map it, and are most of those that do: a link takes
 * descriptors, all links of a file are looked through at each call, and to remove one, all that map
 * the file are. The programs leave out who is no target.
 * Not so for an ordinary user (own_only): whoever maps the file later may be another's.
 *
 * Used from one thread at a time.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBES_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/catalog/catalog.h"
#include "daemon/profbpfd/capture/capture.h"
#include "daemon/profbpfd/probe/probes_options.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/session/shedding.h"

struct probes;

/*
 * probes_new - an empty table
 *
 * Function descriptions and coverage go to @queue as items. Warnings for the
 * user go to @warn, one line each.
 */
struct probes *probes_new(struct capture *capture, const struct catalogs *catalogs,
			  struct item_queue *queue, const struct probes_options *options,
			  void (*warn)(void *context, const char *text), void *context);

/* probes_expect - @pid is going to be traced: it is no stranger when files are shared */
int probes_expect(struct probes *probes, pid_t pid);

/*
 * probes_scan - probe everything that @pid has mapped by now
 *
 * @mapped_ns: when the process mapped what is new, 0 = before the session.
 * Returns 0, -ESRCH if it is gone, -EACCES, -ENOMEM.
 */
int probes_scan(struct probes *probes, pid_t pid, uint64_t mapped_ns);

/* probes_look - keep what they cost within the budget (exit_budget.h); to be called about once a second */
void probes_look(struct probes *probes);

/*
 * probes_set_budget - what seeing the ends of calls may cost from now on; nothing if there was no budget
 * probes_ends_seen - of how many calls a second the ends are seen at exits of functions; 0 without a budget
 *
 * These two from any thread, while the table is used.
 */
void probes_set_budget(struct probes *probes, struct ends_budget budget);
double probes_ends_seen(const struct probes *probes);

/*
 * probes_missed - a new process has ended, or the session has, before it was looked at what it maps
 *
 * The trace tells so if some file is probed in the targets only, as calls of @pid may be missing
 * then. Nothing is said of a process that was looked at, or for which files were added. @since_ns: as
 * @mapped_ns of probes_scan().
 */
void probes_missed(struct probes *probes, pid_t pid, uint64_t since_ns);

/*
 * probes_add_file - probe a file before @pid maps it
 *
 * The descriptor stays the caller's. Files that are no 64-bit ELF files, or
 * without functions of interest, are ignored.
 */
void probes_add_file(struct probes *probes, int fd, pid_t pid);

/* probes_search_libraries - probe libraries that @pid would get from a dlopen by name */
void probes_search_libraries(struct probes *probes, pid_t pid);

/*
 * probes_tail - a traced function of @pid went on at @address: see the ends of the code there
 *
 * The programs are told the answer (capture_tail_known()).
 */
void probes_tail(struct probes *probes, pid_t pid, uint64_t address);

/* probes_forget - the process is gone: drop its links */
void probes_forget(struct probes *probes, pid_t pid);

/* probes_know_file - does a process that was looked at map a file for whose path @is is true? */
bool probes_know_file(const struct probes *probes, bool (*is)(const char *path));

/* Counts for reports: probed functions, and files they are in. */
uint32_t probes_functions(const struct probes *probes);
uint32_t probes_files(const struct probes *probes);

/* probes_events - how many probes are perf events, of which the kernel removes ten a second */
size_t probes_events(const struct probes *probes);

/* probes_detach - remove all breakpoints; probes_free does that, too */
void probes_detach(struct probes *probes);
void probes_free(struct probes *probes);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBES_H */
