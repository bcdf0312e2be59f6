/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/priority.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RAISED_NICE -10

static void set_nice(int nice)
{
	struct sched_attr attributes = {
		.size = sizeof(attributes),
		.sched_policy = SCHED_NORMAL,
		.sched_flags = SCHED_FLAG_RESET_ON_FORK,
		.sched_nice = nice,
	};

	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void priority_raise(void)
{
	set_nice(RAISED_NICE);
}

void priority_lower(void)
{
	set_nice(0);
}
