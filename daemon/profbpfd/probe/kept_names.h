/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_names.h - whether names that a catalog says are kept are seen to change.
 *
 * A thread that has read an object's name does not read it again until a function with
 * names=changed is called (catalog.h). That is right only where each such function is probed.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_KEPT_NAMES_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_KEPT_NAMES_H

#include <stdbool.h>

#include "daemon/common/probed_file.h"

/*
 * kept_names_hold - are all functions of @file that change the names of @entry's catalog to be probed?
 *
 * False, too, if there are none, or if one is an inline function: what callers hold of it is not
 * seen. @file's functions are those that will be probed.
 */
bool kept_names_hold(const struct probed_file *file, const struct catalog_function *entry);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_KEPT_NAMES_H */
