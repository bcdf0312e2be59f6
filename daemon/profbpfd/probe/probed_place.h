/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probed_place.h - the identity of a file as BPF programs see it, for kernels that keep no cookies for probes.
 *
 * Programs see the inode behind a mapping, which can differ from stat's (overlayfs, btrfs): so the daemon maps the
 * file itself and reads its identity from the kernel's list of its own mappings.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBED_PLACE_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBED_PLACE_H

#include "bpf/session_maps.h"

/*
 * probed_place_of - sets device and inode of the file at @path; the other members become 0
 *
 * Returns 0 or a negative errno.
 */
int probed_place_of(const char *path, struct probed_place *place);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBED_PLACE_H */
