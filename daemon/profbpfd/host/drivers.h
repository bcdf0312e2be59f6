/* SPDX-License-Identifier: Apache-2.0 */
/* drivers.h - finds the driver and the device node of a device number. */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_DRIVERS_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_DRIVERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * driver_lookup - names for the kernel's device number @rdev (major << 20 | minor,
 * with RDEV_BLOCK for block devices)
 *
 * The driver is the name in /proc/devices, "char MAJOR" or "block MAJOR" if there is none;
 * the device is the node under /dev that /sys names, or "char MAJOR:MINOR"; the module
 * is the driver that is bound to the device according to /sys (amdgpu where /proc/devices
 * has drm), or "".
 */
struct driver_names {
	char driver[64];
	char module[64];
	char device[256];
};

void driver_lookup(uint32_t rdev, struct driver_names *names);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_DRIVERS_H */
