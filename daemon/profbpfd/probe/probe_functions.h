/* SPDX-License-Identifier: Apache-2.0 */
/* probe_functions.h - records the probed functions of a file in the trace. */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_FUNCTIONS_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_FUNCTIONS_H

#include "daemon/common/probed_file.h"
#include "daemon/profbpfd/probe/file_places.h"
#include "daemon/profbpfd/session/item.h"

/*
 * probe_functions_item - an item with the packet's body for @file at @path; NULL without memory
 *
 * @cookies are the ids of the functions' probes, in order. To be queued before any call of the functions.
 */
struct item *probe_functions_item(const struct probed_file *file, const struct file_places *places,
				  const char *path, const uint64_t *cookies);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_FUNCTIONS_H */
