/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probed_place.h - how BPF programs tell a file, on kernels that keep no cookies for probes.
 *
 * They see the file behind a mapping. What stat tells of it can differ (overlayfs, btrfs): so the file is
 * mapped here, too, and looked up in what the kernel says of the mappings.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBED_PLACE_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBED_PLACE_H

#include "bpf/session_maps.h"

/*
 * probed_place_of - fill in device and inode of the file at @path; the rest becomes 0
 *
 * Returns 0 or a negative errno.
 */
int probed_place_of(const char *path, struct probed_place *place);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBED_PLACE_H */
