/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_awake.h - tells whether a thread runs or is about to
 *
 * The kernel adds to a running thread's CPU time only at ticks, about one a second on a CPU of nohz_full=, and when the
 * thread leaves the CPU; nor does reading the clock of another process or thread's schedstat add it. So CPU time that stands
 * still shows that a thread has not run only if the thread was found asleep before the time was read: the time of one that
 * sleeps is complete.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_THREAD_AWAKE_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_THREAD_AWAKE_H

#include <stdbool.h>
#include <stdint.h>

/* thread_awake - is thread @tid of process @pid on a CPU, or about to be? True if that is not known. */
bool thread_awake(uint32_t pid, uint32_t tid);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_THREAD_AWAKE_H */
