/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_devices.h - which device nodes a process has open, by the names of its descriptors' files.
 *
 * The links in /proc/PID/fd are read, the files are not asked for anything: one that lies on a network may not answer.
 * A node that is called otherwise than below /dev is not found.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_OPEN_DEVICES_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_OPEN_DEVICES_H

#include <stdbool.h>
#include <sys/types.h>

#define OPEN_DEVICE_NAME_MAX 64 /* with its end; longer names are not looked at */

/*
 * open_devices_find - the first descriptor of @pid that leads below /dev and that @wanted takes
 *
 * @wanted gets names such as "/dev/nvidia0". Of a process 4,096 descriptors are looked at. Returns whether
 * there is one, then with its name in @name, OPEN_DEVICE_NAME_MAX bytes.
 */
bool open_devices_find(pid_t pid, bool (*wanted)(const char *name), char *name);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_OPEN_DEVICES_H */
