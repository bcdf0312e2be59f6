/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/drivers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void driver_name(uint32_t major, char *name, size_t size)
{
	FILE *f = fopen("/proc/devices", "re");
	char line[128], word[64];
	unsigned int number;

	snprintf(name, size, "char %u", major);
	if (!f)
		return;
	while (fgets(line, sizeof(line), f) && strncmp(line, "Block", 5)) {
		if (sscanf(line, "%u %63s", &number, word) == 2 && number == major) {
			snprintf(name, size, "%s", word);
			break;
		}
	}
	fclose(f);
}

static void device_node(uint32_t major, uint32_t minor, char *device, size_t size)
{
	char path[64], line[256];
	FILE *f;

	snprintf(device, size, "char %u:%u", major, minor);
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/uevent", major, minor);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "DEVNAME=", 8))
			snprintf(device, size, "/dev/%s", line + 8);
	}
	fclose(f);
}

void driver_lookup(uint32_t rdev, char *driver, size_t driver_size, char *device,
		   size_t device_size)
{
	uint32_t major = rdev >> 20, minor = rdev & 0xfffff;

	driver_name(major, driver, driver_size);
	device_node(major, minor, device, device_size);
}
