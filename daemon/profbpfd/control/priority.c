/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/priority.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RAISED_NICE -10

static void set(uint32_t policy, int nice)
{
	struct sched_attr attributes = {
		.size = sizeof(attributes),
		.sched_policy = policy,
		.sched_flags = SCHED_FLAG_RESET_ON_FORK,
		.sched_nice = nice,
	};

	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void priority_raise(void)
{
	set(SCHED_NORMAL, RAISED_NICE);
}

void priority_lower(void)
{
	set(SCHED_NORMAL, 0);
}

void priority_patient(bool patient)
{
	/* For threads, on Linux: the calling one. */
	set(patient ? SCHED_BATCH : SCHED_NORMAL, getpriority(PRIO_PROCESS, 0));
}

void priority_group_lower(void)
{
	int fd = getsid(0) == getpid() ? open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	while (write(fd, "0", 1) < 0 && errno == EINTR)
		;
	close(fd);
}
