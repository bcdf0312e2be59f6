/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_closer.h - removes the probes of processes that are gone, on a separate thread.
 *
 * Closing a link takes as long as the kernel waits for all its users, tens of milliseconds for each file. A prober
 * that waited for it would miss the first calls of the next process.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_LINK_CLOSER_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_LINK_CLOSER_H

#include "daemon/profbpfd/probe/probe_link.h"

struct link_closer;

/* link_closer_new - returns NULL without memory; threads are started when there are links to close */
struct link_closer *link_closer_new(void);

/* link_closer_add - closes @link, which may be NULL, on a thread; without memory or threads at once */
void link_closer_add(struct link_closer *closer, struct probe_link *link);

/* link_closer_free - returns when every link that was added is closed; @closer may be NULL */
void link_closer_free(struct link_closer *closer);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_LINK_CLOSER_H */
