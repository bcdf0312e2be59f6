/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_rules.h - which cause each nanosecond of a gap has.
 *
 * The rules themselves are told in idle.h; the last of them, for a thread that
 * sleeps and does not wait for the device, in full. W is the thread that woke it,
 * if it was a thread.
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
 *   write                            as read, but a W outside the job is pipeline
 *   recv, send, accept, connect      by W of the job  pipeline, who = W
 *                                    else             network
 *   open, fsync, io_uring_enter, ...                  io
 *   wait4, waitid                                     pipeline, who = W
 *   others, uninterruptible          by W             lock, who = W (a lock of the kernel)
 *                                    else             io
 *   others                                            unknown
 *
 * Of a device file that was read without a trace only calls are known: inside one that waits for
 * the device it is device_wait, inside another one runtime (running or not), else what the file's own timeline
 * of the host has the thread in (scope_line.h), or, if it has it in nothing, the process's main thread: in a data
 * loader pipeline, in another scope user_code (running or not), who = the scope; else unknown.
 *
 * "Of the job" are traced processes and the thread's own.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_RULES_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_RULES_H

#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/idle/idle_piece.h"
#include "analyzer/model/model.h"

/*
 * idle_rules_apply - split a gap
 *
 * Replaces what is in @pieces. They follow each other without holes from the gap's start to
 * its end. Returns 0 or -ENOMEM.
 */
int idle_rules_apply(const struct model *model, const struct idle_tools *tools,
		     const struct device_gap *gap, struct idle_pieces *pieces);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_RULES_H */
