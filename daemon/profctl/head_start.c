/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/head_start.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/common/privilege.h"

#define NICE_STARTING "-10"
#define NICE_OF_OTHERS "0"

static void set_nice(const char *path, const char *nice)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	if (fd < 0)
		return;
	do {
		n = write(fd, nice, strlen(nice));
	} while (n < 0 && errno == EINTR);
	close(fd);
}

bool head_start_allowed(void)
{
	const uint64_t needed = 1ull << CAP_SYS_NICE | 1ull << CAP_SYS_ADMIN;

	return (privilege_effective() & needed) == needed && getpriority(PRIO_PROCESS, 0) <= 0;
}

void head_start_take(void)
{
	set_nice("/proc/self/autogroup", NICE_STARTING);
}

void head_start_end(pid_t pid)
{
	char path[64];

	/* Before its setsid() it would be our own group. */
	if (getsid(pid) != pid)
		return;
	snprintf(path, sizeof(path), "/proc/%d/autogroup", (int)pid);
	set_nice(path, NICE_OF_OTHERS);
}
