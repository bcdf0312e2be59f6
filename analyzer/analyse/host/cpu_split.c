/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/cpu_split.h"

#include <stdlib.h>

#include "analyzer/analyse/host/accounts.h"
#include "analyzer/analyse/host/interpolate.h"
#include "proto/trace.pb-c.h"

struct cpu_split cpu_split(const struct cpu_sums *sums)
{
	unsigned __int128 ticks = (unsigned __int128)sums->user_ticks_ns + sums->system_ticks_ns;
	struct cpu_split split = { .user_ns = sums->run_ns };

	if (ticks)
		split.system_ns =
			(uint64_t)((unsigned __int128)sums->run_ns * sums->system_ticks_ns / ticks);
	split.user_ns -= split.system_ns;
	return split;
}

struct cpu_split cpu_split_growth(const struct cpu_sums *before, const struct cpu_sums *after)
{
	struct cpu_split from = cpu_split(before), to = cpu_split(after);
	uint64_t run_ns = grown(before->run_ns, after->run_ns);

	/* A new sample can move more time to one side than was used since: the kernel lets neither figure fall. */
	to.user_ns = grown(from.user_ns, to.user_ns);
	to.system_ns = grown(from.system_ns, to.system_ns);
	if (to.user_ns > run_ns)
		to.user_ns = run_ns;
	if (to.system_ns > run_ns)
		to.system_ns = run_ns;
	return to;
}

uint64_t cpu_split_scale(const struct cpu_split *split, uint64_t run_ns)
{
	unsigned __int128 all = (unsigned __int128)split->user_ns + split->system_ns;

	return all ? (uint64_t)((unsigned __int128)run_ns * split->system_ns / all) : 0;
}

void process_cpu_before(const struct model *model, struct cpu_sums *sums, bool *known)
{
	for (uint32_t i = 0; i < model->processes.count; i++) {
		sums[i] = (struct cpu_sums){ 0 };
		known[i] = model->processes.row[i].start_ns >= model->info.session_start_ns &&
			   model->info.session_start_ns;
	}
	for (uint32_t i = 0; i < model->process_stats.count; i++) {
		const struct process_stat *row = &model->process_stats.row[i];

		if (!(row->flags & PROFBPF__PROCESSES__FLAG__FIRST) || known[row->process])
			continue;
		known[row->process] = true;
		sums[row->process] = (struct cpu_sums){ row->gone_run_ns, row->gone_user_ns,
							row->gone_system_ns };
	}
}

static void add(struct cpu_sums *sums, const struct account *account)
{
	sums->run_ns += account->run_ns;
	sums->user_ticks_ns += account->user_ns;
	sums->system_ticks_ns += account->system_ns;
}

struct process_cpu *process_cpu_compute(const struct model *model,
					const struct analysis_window *window)
{
	uint32_t count = model->processes.count;
	struct process_cpu *cpu = calloc((size_t)count + 1, sizeof(*cpu));
	struct cpu_sums *gone = calloc((size_t)count + 1, sizeof(*gone));
	bool *known = calloc((size_t)count + 1, sizeof(*known));

	if (!cpu || !gone || !known) {
		free(cpu);
		cpu = NULL;
		goto cleanup;
	}
	process_cpu_before(model, gone, known);
	for (uint32_t i = 0; i < count; i++)
		cpu[i] = (struct process_cpu){ gone[i], gone[i], known[i] };
	for (uint32_t i = 0; i < model->threads.count; i++) {
		uint32_t process = model->threads.row[i].process;
		struct account at;

		if (process >= count)
			continue;
		if (accounts_at(model, i, window->from_ns, &at))
			add(&cpu[process].before, &at);
		if (accounts_at(model, i, window->to_ns, &at))
			add(&cpu[process].after, &at);
	}
cleanup:
	free(gone);
	free(known);
	return cpu;
}
