/* SPDX-License-Identifier: Apache-2.0 */
/* capture_cost.c - counts runs of the programs, and switches expensive ones off. */
#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "daemon/profbpfd/capture/capture_private.h"

int capture_cpus(const struct capture *capture)
{
	return capture->cpus;
}

int capture_run_costs(const struct capture *capture, enum run_kind kind, struct run_cost *costs)
{
	uint32_t key = kind;

	return bpf_map_lookup_elem(bpf_map__fd(capture->skeleton->maps.run_costs), &key, costs);
}

/* Adds calls below --min-duration to the CPU on which their thread flushed its counts. */
static void add_short_calls(const struct capture *capture, uint64_t *calls)
{
	struct short_value *values = calloc(capture->cpus, sizeof(*values));
	int fd = bpf_map__fd(capture->skeleton->maps.short_calls);
	struct short_key key, *previous = NULL;

	while (values && !bpf_map_get_next_key(fd, previous, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, values))
			for (int cpu = 0; cpu < capture->cpus; cpu++)
				calls[cpu] += values[cpu].count;
		previous = &key;
	}
	free(values);
}

int capture_calls(const struct capture *capture, uint64_t *calls)
{
	struct source_stats *values = calloc(capture->cpus, sizeof(*values));
	uint32_t key = SOURCE_API;
	int err = values ? bpf_map_lookup_elem(bpf_map__fd(capture->skeleton->maps.stats), &key, values) :
			   -ENOMEM;

	for (int cpu = 0; cpu < capture->cpus && !err; cpu++)
		calls[cpu] = values[cpu].produced;
	free(values);
	if (!err)
		add_short_calls(capture, calls);
	return err;
}

void capture_shed(struct capture *capture, enum run_kind kind, bool shed)
{
	capture->skeleton->bss->runs_shed[kind] = shed;
}

void capture_follow_sleeps(struct capture *capture, uint64_t from_ns)
{
	capture->skeleton->bss->sleeps_from_ns = from_ns;
}

double capture_fullest(struct capture *capture)
{
	double fullest = (double)capture->fullest / (double)capture->ring_bytes;

	capture->fullest = 0;
	return fullest < 1 ? fullest : 1;
}
