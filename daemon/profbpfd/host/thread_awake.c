/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/thread_awake.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool thread_awake(uint32_t pid, uint32_t tid)
{
	char path[64], text[256]; /* the state is the third field */
	const char *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return true;
	text[n] = '\0';
	/* The name, field 2, may hold any bytes but ends at the last ')'. */
	end = strrchr(text, ')');
	return !end || !strncmp(end, ") R", 3);
}
