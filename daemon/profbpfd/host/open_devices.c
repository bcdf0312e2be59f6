/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/open_devices.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 4096 /* checked descriptors of a process */

static bool is_wanted(int folder, const char *descriptor, bool (*wanted)(const char *name), char *name)
{
	ssize_t n = readlinkat(folder, descriptor, name, OPEN_DEVICE_NAME_MAX);

	if (n <= 0 || n >= OPEN_DEVICE_NAME_MAX)
		return false;
	name[n] = '\0';
	return !strncmp(name, "/dev/", 5) && wanted(name);
}

bool open_devices_find(pid_t pid, bool (*wanted)(const char *name), char *name)
{
	struct dirent *entry;
	bool found = false;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (!folder)
		return false;
	for (int i = 0; i < DESCRIPTORS_MAX && !found && (entry = readdir(folder)); i++)
		found = isdigit((unsigned char)entry->d_name[0]) &&
			is_wanted(dirfd(folder), entry->d_name, wanted, name);
	closedir(folder);
	return found;
}
