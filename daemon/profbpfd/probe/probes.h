/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probes.h - the table of probes: functions of files in processes.
 *
 * Device and inode identify a file, which is read once (file_cache.h). Breakpoints are
 * put into the traced processes only, as long as other processes map the file,
 * too. If none does and children are followed, they are put into the file itself,
 * for every process that maps it: then a child hits them from its first instruction on. The
 * same holds if most of the processes that map it are traced and many: a link takes
 * descriptors, each call walks all links of a file, and removing one walks all processes that
 * map the file. The programs ignore processes that are no targets.
 * An ordinary user's session (own_only) never does that: another user may map the file later.
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
 * Function descriptions and coverage are queued as items. @warn gets warnings for
 * the user, one line each.
 */
struct probes *probes_new(struct capture *capture, const struct catalogs *catalogs,
			  struct item_queue *queue, const struct probes_options *options,
			  void (*warn)(void *context, const char *text), void *context);

/*
 * probes_expect - @pid is going to be traced: it counts as a target where files are shared
 *
 * From then on only the process that has this id now gets probes. Returns 0, -ESRCH if it is gone, or -ENOMEM.
 */
int probes_expect(struct probes *probes, pid_t pid);

/* probes_gone - has the process that had the id @pid at probes_expect() exited? False in a session of the whole machine */
bool probes_gone(const struct probes *probes, pid_t pid);

/*
 * probes_scan - probes everything that @pid has mapped by now
 *
 * @mapped_ns: the time when the process mapped the new files, 0 = before the session.
 * Returns 0, -ESRCH if it is gone, -EACCES, -ENOMEM.
 */
int probes_scan(struct probes *probes, pid_t pid, uint64_t mapped_ns);

/*
 * probes_follow - probes_scan() while the session runs
 *
 * @began_ns: the process began then, or another program of it; 0 = unknown. Returns -ESRCH also if the process that has
 * the id by now is no target: it is a stranger that got the id of a target that has ended.
 */
int probes_follow(struct probes *probes, pid_t pid, uint64_t mapped_ns, uint64_t began_ns);

/* probes_look - keeps their cost within the budget (exit_budget.h); to be called about once a second */
void probes_look(struct probes *probes);

/*
 * probes_set_budget - changes the budget for the ends of calls; does nothing if there was no budget
 * probes_ends_seen - calls per second whose ends are seen at exits of functions; 0 without a budget
 *
 * Both may be called from any thread, while the table is used.
 */
void probes_set_budget(struct probes *probes, struct ends_budget budget);
double probes_ends_seen(const struct probes *probes);

/*
 * probes_missed - a new process, or the session, has ended before the process' mappings were read
 *
 * Records that in the trace if some file is probed in the targets only, because calls of @pid may be missing
 * then. Does nothing for a process that was scanned, or for which files were added. @since_ns: as
 * @mapped_ns of probes_scan().
 */
void probes_missed(struct probes *probes, pid_t pid, uint64_t since_ns);

/*
 * probes_add_file - probes a file before @pid maps it
 *
 * The caller keeps the descriptor. Files that are not 64-bit ELF files, or
 * have no functions to probe, are ignored.
 */
void probes_add_file(struct probes *probes, int fd, pid_t pid);

/* probes_search_libraries - probes libraries that @pid would get from a dlopen by name */
void probes_search_libraries(struct probes *probes, pid_t pid);

/*
 * probes_tail - traced function @probe of @pid tail-jumped to @address: probes the exits of the code there
 *
 * Passes the answer to the programs (capture_tail_known()).
 */
void probes_tail(struct probes *probes, pid_t pid, uint64_t address, uint32_t probe);

/* probes_forget - the process is gone: drops its links */
void probes_forget(struct probes *probes, pid_t pid);

/*
 * probes_ended - the process has ended at @ended_ns: drops its links
 *
 * Records of several CPUs come in any order: a process that began later with the same id keeps its links.
 */
void probes_ended(struct probes *probes, pid_t pid, uint64_t ended_ns);

/* probes_know_file - does a scanned process map a file whose path satisfies @is? */
bool probes_know_file(const struct probes *probes, bool (*is)(const char *path));

/* The numbers of probed functions, and of files with probed functions, for reports. */
uint32_t probes_functions(const struct probes *probes);
uint32_t probes_files(const struct probes *probes);

/* probes_events - the number of probes that are perf events, of which the kernel removes ten a second */
size_t probes_events(const struct probes *probes);

/* probes_detach - removes all breakpoints; probes_free() does that, too */
void probes_detach(struct probes *probes);
void probes_free(struct probes *probes);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBES_H */
