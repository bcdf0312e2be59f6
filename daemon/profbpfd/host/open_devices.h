/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_devices.h - the device nodes that a process has open, by the names of its descriptors' files.
 *
 * Only the links in /proc/PID/fd are read; the files themselves are not touched, because a network file system may
 * block. A node outside of /dev is not found.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_OPEN_DEVICES_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_OPEN_DEVICES_H

#include <stdbool.h>
#include <sys/types.h>

#define OPEN_DEVICE_NAME_MAX 64 /* with the final NUL; longer names are ignored */

/*
 * open_devices_find - the first descriptor of @pid below /dev that @wanted accepts
 *
 * @wanted gets names such as "/dev/nvidia0". Up to 4,096 descriptors of a process are read. Returns whether
 * there is one, with its name in @name (OPEN_DEVICE_NAME_MAX bytes).
 */
bool open_devices_find(pid_t pid, bool (*wanted)(const char *name), char *name);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_OPEN_DEVICES_H */
