/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/capture/programs.h"

#include <linux/membarrier.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

void programs_options(struct bpf_object_open_opts *options, const struct features *features,
		      char path[PROGRAMS_PATH_SIZE])
{
	snprintf(path, PROGRAMS_PATH_SIZE, "/proc/self/fd/%d", features->types.fd);
	if (features->types.fd)
		options->btf_custom_path = path;
}

/* Equals synchronize_rcu() in the kernel; if membarrier() is refused, sleeps for many times a program's duration. */
void programs_wait(void)
{
	struct timespec pause = { .tv_nsec = 20000000 };

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&pause, NULL);
}
