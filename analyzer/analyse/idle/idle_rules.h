/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_rules.h - the cause of each nanosecond of a gap.
 *
 * idle.h lists the rules; this is the last one in full, for a thread that
 * sleeps and does not wait for the device. W is the thread that woke it,
 * if a thread did.
 *
 *   in a page fault                                   page_fault
 *   stopped by a signal or a debugger                 unknown
 *   in an ioctl                                       driver
 *   in an I/O wait                                    io
 *   futex, semaphores, file locks    by W             lock, who = W
 *                                    by a timer       sleep
 *                                    else             lock
 *   nanosleep, pause, ...                             sleep
 *   poll, select, epoll_wait         by W of the job  pipeline, who = W
 *                                    by another W     no_work, who = W
 *                                    by a timer       sleep
 *                                    by a softirq     network
 *                                    else             unknown
 *   read, message queues             uninterruptible  io
 *                                    by W of the job  pipeline, who = W
 *                                    by another W     no_work, who = W
 *                                    by a timer       sleep
 *                                    by a softirq     network
 *                                    by a hardirq     io
 *                                    else             unknown
 *   write                            as for read, but another W is pipeline
 *   recv, send, accept, connect      by W of the job  pipeline, who = W
 *                                    else             network
 *   open, fsync, io_uring_enter, ...                  io
 *   wait4, waitid                                     pipeline, who = W
 *   others, uninterruptible          by W             lock, who = W (a lock of the kernel)
 *                                    else             io
 *   others                                            unknown
 *
 * If a device file was read without a trace, only calls are known: device_wait inside a call that waits for
 * the device, runtime inside another call (running or not). Outside of calls the file's own timeline of the host
 * counts (scope_line.h): the scope of the thread, or, if it is in none, of the process's main thread. A data loader is
 * pipeline, a scope that waits unknown, another scope user_code (running or not), who = the scope; no scope is unknown.
 * A device that was idle for more than 10 ms while it had the task waited for something unseen: unknown, unless another
 * device of the file was busy for most of this time, for which the task then probably waited.
 *
 * The job consists of the traced processes and the thread's own process.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_RULES_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_RULES_H

#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/idle/idle_piece.h"
#include "analyzer/model/model.h"

/*
 * idle_rules_apply - splits a gap
 *
 * Replaces the contents of @pieces, which then follow each other without holes from the gap's start
 * to its end. Returns 0 or -ENOMEM.
 */
int idle_rules_apply(const struct model *model, const struct idle_tools *tools,
		     const struct device_gap *gap, struct idle_pieces *pieces);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_RULES_H */
