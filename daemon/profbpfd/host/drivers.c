/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/drivers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/events.h"

struct number {
	const char *type; /* its name below /sys/dev */
	uint32_t major;
	uint32_t minor;
};

/* /proc/devices lists the character devices first, then the block devices. */
static void driver_name(const struct number *n, char *name, size_t size)
{
	FILE *f = fopen("/proc/devices", "re");
	bool wanted = false, block = !strcmp(n->type, "block");
	char line[128], word[64];
	unsigned int number;

	snprintf(name, size, "%s %u", n->type, n->major);
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Character", 9) || !strncmp(line, "Block", 5))
			wanted = (line[0] == 'B') == block;
		if (wanted && sscanf(line, "%u %63s", &number, word) == 2 && number == n->major) {
			snprintf(name, size, "%s", word);
			break;
		}
	}
	fclose(f);
}

static void device_node(const struct number *n, char *device, size_t size)
{
	char path[64], line[256];
	FILE *f;

	snprintf(device, size, "%s %u:%u", n->type, n->major, n->minor);
	snprintf(path, sizeof(path), "/sys/dev/%s/%u:%u/uevent", n->type, n->major, n->minor);
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

static void bound_driver(const struct number *number, char *module, size_t size)
{
	char path[64], target[256], *name;
	ssize_t n;

	module[0] = '\0';
	snprintf(path, sizeof(path), "/sys/dev/%s/%u:%u/device/driver", number->type, number->major,
		 number->minor);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	name = strrchr(target, '/');
	snprintf(module, size, "%.*s", (int)size - 1, name ? name + 1 : target);
}

void driver_lookup(uint32_t rdev, struct driver_names *names)
{
	struct number number = { rdev & RDEV_BLOCK ? "block" : "char", (rdev & ~RDEV_BLOCK) >> 20,
				 rdev & 0xfffff };

	driver_name(&number, names->driver, sizeof(names->driver));
	bound_driver(&number, names->module, sizeof(names->module));
	device_node(&number, names->device, sizeof(names->device));
}
