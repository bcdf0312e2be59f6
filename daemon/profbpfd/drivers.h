/* SPDX-License-Identifier: Apache-2.0 */
/* drivers.h - which driver and device node stand behind a character device number. */
#ifndef PROFBPF_DAEMON_DRIVERS_H
#define PROFBPF_DAEMON_DRIVERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * driver_lookup - names for the kernel's device number @rdev (major << 20 | minor)
 *
 * The driver is what /proc/devices says, "char MAJOR" if it says nothing; the
 * device is the node that /sys names under /dev, or "char MAJOR:MINOR".
 */
void driver_lookup(uint32_t rdev, char *driver, size_t driver_size, char *device,
		   size_t device_size);

#endif /* PROFBPF_DAEMON_DRIVERS_H */
