/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/capture/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

struct sampler {
	int count;
	int fd[];
};

#define EACH_FAULT 0 /* in place of a rate: every page fault */

static int open_event(uint32_t type, uint64_t config, uint32_t rate, int cpu)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.freq = rate != EACH_FAULT,
		.sample_freq = rate != EACH_FAULT ? rate : 1,
		.exclude_idle = rate != EACH_FAULT,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_sample(uint32_t rate, int cpu, bool *hardware)
{
	int fd = -1;

	if (*hardware)
		fd = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, rate, cpu);
	if (fd < 0) {
		*hardware = false;
		fd = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, rate, cpu);
	}
	return fd;
}

static int open_cpu(int program, uint32_t rate, int cpu, bool *hardware)
{
	int fd, err;

	fd = rate == EACH_FAULT ? open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
					     EACH_FAULT, cpu)
				: open_sample(rate, cpu, hardware);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static struct sampler *open_all(int program, uint32_t rate, const char *without, char *error,
				size_t error_size)
{
	int cpus = libbpf_num_possible_cpus(), last = -ENODEV;
	struct sampler *s = cpus > 0 ? calloc(1, sizeof(*s) + cpus * sizeof(s->fd[0])) : NULL;
	bool hardware = true;

	if (!s) {
		snprintf(error, error_size, "%s: out of memory", without);
		return NULL;
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = open_cpu(program, rate, cpu, &hardware);

		if (fd >= 0)
			s->fd[s->count++] = fd;
		else if (fd != -ENODEV && fd != -ENXIO)
			last = fd;
	}
	if (s->count)
		return s;
	snprintf(error, error_size,
		 "%s: perf events cannot be opened: %s%s", without, strerror(-last),
		 last == -EACCES || last == -EPERM ?
			 "; CAP_PERFMON or a smaller kernel.perf_event_paranoid is needed" :
		 last == -EINVAL ? "; the rate may be above kernel.perf_event_max_sample_rate" :
				   "");
	free(s);
	return NULL;
}

struct sampler *sampler_new(int program, uint32_t rate, char *error, size_t error_size)
{
	return open_all(program, rate, "no samples are taken", error, error_size);
}

struct sampler *sampler_new_faults(int program, char *error, size_t error_size)
{
	return open_all(program, EACH_FAULT, "major page faults are not recorded", error,
			error_size);
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	while (s->count)
		close(s->fd[--s->count]);
	free(s);
}
