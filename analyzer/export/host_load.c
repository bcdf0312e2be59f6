/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/host_load.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t busy_of(const struct cpu_stat *stat)
{
	return stat->user_ns + stat->system_ns + stat->irq_ns + stat->softirq_ns + stat->steal_ns;
}

static void add_cpu(const struct cpu_stat *from, const struct cpu_stat *to, struct host_load *load)
{
	uint64_t busy_ns = busy_of(to) - busy_of(from);
	uint64_t idle_ns = to->idle_ns + to->iowait_ns - from->idle_ns - from->iowait_ns;

	/* A CPU's times grow by at most a few times the wall time; larger values of a hostile file are ignored. */
	if (busy_ns > INT64_MAX >> 16 || idle_ns > INT64_MAX >> 16)
		return;
	load->busy_ns += busy_ns;
	load->idle_ns += idle_ns;
}

int host_load_compute(const struct model *model, struct host_load **rows, uint32_t *count)
{
	uint32_t readings = model->host_stats.count, next = 0;
	struct host_load *loads = calloc((size_t)readings + 1, sizeof(*loads));

	*rows = loads;
	*count = 0;
	if (!loads)
		return -ENOMEM;
	if (readings < 2)
		return 0;
	*count = readings - 1;
	for (uint32_t i = 0; i + 1 < readings; i++) {
		loads[i].start_ns = model->host_stats.row[i].ts_ns;
		loads[i].end_ns = model->host_stats.row[i + 1].ts_ns;
	}
	/* CPUs' rows are sorted by CPU, then time: each CPU's rows follow the readings once. */
	for (uint32_t i = 1; i < model->cpu_stats.count; i++) {
		const struct cpu_stat *from = &model->cpu_stats.row[i - 1], *to = from + 1;

		if (from->cpu != to->cpu) {
			next = 0;
			continue;
		}
		while (next < *count && loads[next].start_ns < from->ts_ns)
			next++;
		if (next < *count && loads[next].start_ns == from->ts_ns &&
		    loads[next].end_ns == to->ts_ns)
			add_cpu(from, to, &loads[next]);
	}
	return 0;
}

double host_load_percent(const struct host_load *load)
{
	double all = (double)load->busy_ns + (double)load->idle_ns;

	return all > 0 ? 100 * (double)load->busy_ns / all : -1;
}
