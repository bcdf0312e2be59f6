/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_names.h - checks whether changes of names that a catalog declares as kept are seen.
 *
 * A thread that has read an object's name does not read it again until a function with
 * names=changed is called (catalog.h). That is correct only if each such function is probed.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_KEPT_NAMES_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_KEPT_NAMES_H

#include <stdbool.h>

#include "daemon/common/probed_file.h"

/*
 * kept_names_hold - will all functions of @file that change names of @entry's catalog be probed?
 *
 * Also false if there are none, or if one is an inline function, whose inlined copies are not
 * probed. @file's functions are the ones that will be probed.
 */
bool kept_names_hold(const struct probed_file *file, const struct catalog_function *entry);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_KEPT_NAMES_H */
