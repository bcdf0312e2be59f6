/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of processes beside their threads' times, and the groups they are in. */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

#define MIB (1024.0 * 1024.0)

static void mib(struct table *table, bool known, uint64_t bytes)
{
	if (known)
		table_format(table, "%.1f", (double)bytes / MIB);
	else
		table_unknown(table);
}

static void count(struct table *table, bool known, uint64_t value)
{
	if (known)
		table_count(table, value);
	else
		table_unknown(table);
}

static void facts_row(struct table *table, const struct model *model,
		      const struct process_usage *usage)
{
	const struct process *process = &model->processes.row[usage->process];
	const char *path = usage->cgroup == INDEX_NONE
				   ? ""
				   : model_text(model, model->cgroups.row[usage->cgroup].path);

	table_row(table);
	table_count(table, process->pid);
	count(table, usage->ns_pid, usage->ns_pid);
	table_text(table, model_text(model, process->name));
	mib(table, usage->has_rss, usage->rss_bytes);
	mib(table, usage->peak_rss_bytes, usage->peak_rss_bytes);
	count(table, usage->has_migrations, usage->minor_faults);
	count(table, usage->has_migrations, usage->major_faults);
	mib(table, usage->has_bytes, usage->bytes.read_chars);
	mib(table, usage->has_bytes, usage->bytes.write_chars);
	mib(table, usage->has_bytes, usage->bytes.read_bytes);
	mib(table, usage->has_bytes, usage->bytes.write_bytes);
	if (*path)
		table_text(table, path);
	else
		table_unknown(table);
}

int text_process_facts(FILE *out, const struct model *model, const struct results *results,
		       const struct report_options *options)
{
	static const char *const headings[] = {
		"RSS MiB",  "peak MiB",	   "minor faults", "major faults",
		"read MiB", "written MiB", "disk read",	   "disk written",
	};
	const struct process_results *processes = results->processes;
	struct table *table;
	uint32_t targets = 0, shown;
	int err;

	while (targets < processes->process_count &&
	       model->processes.row[processes->processes[targets].process].target)
		targets++;
	if (!targets || !model->process_stats.count)
		return 0;
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	fputs("\nMemory and I/O (read, written: by system calls, whatever from; disk: of it from "
	      "and to devices, MiB):\n",
	      out);
	table_column(table, "pid", TABLE_LEFT);
	table_column(table, "inside", TABLE_RIGHT);
	table_column(table, "name", TABLE_LEFT | TABLE_SHRINK);
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		table_column(table, headings[i], TABLE_RIGHT);
	table_column(table, "cgroup", TABLE_LEFT | TABLE_SHRINK);
	shown = rows_shown(options, targets);
	for (uint32_t i = 0; i < shown; i++)
		facts_row(table, model, &processes->processes[i]);
	err = table_print(table, out);
	table_free(table);
	return err;
}

static void group_row(struct table *table, const struct model *model,
		      const struct cgroup_usage *usage)
{
	const struct cgroup_growth *all = &usage->all;
	double window = (double)(all->end_ns - all->start_ns);

	table_row(table);
	table_text(table, model_text(model, model->cgroups.row[usage->cgroup].path));
	table_count(table, usage->processes);
	if (!(usage->flags & MODEL_CGROUP_QUOTA))
		table_unknown(table);
	else if (!all->quota_ns || !all->period_ns)
		table_text(table, "none");
	else
		table_format(table, "%.2f", (double)all->quota_ns / (double)all->period_ns);
	if (usage->flags & MODEL_CGROUP_USAGE && window > 0)
		table_percent(table, 100 * (double)all->usage_ns / window);
	else
		table_unknown(table);
	count(table, usage->flags & MODEL_CGROUP_THROTTLING, all->throttled_periods);
	count(table, usage->flags & MODEL_CGROUP_THROTTLING, all->periods);
	if (usage->flags & MODEL_CGROUP_THROTTLING)
		table_ms(table, all->throttled_ns);
	else
		table_unknown(table);
}

/* Groups without any limit around them say nothing that the table of processes does not. */
int text_cgroups(FILE *out, const struct model *model, const struct results *results,
		 const struct report_options *options)
{
	const struct cgroup_results *groups = results->cgroups;
	struct table *table;
	bool limited = false;
	int err;

	for (uint32_t i = 0; groups && i < groups->count; i++)
		limited |= groups->row[i].all.quota_ns || groups->row[i].all.throttled_periods;
	if (!limited)
		return 0;
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	fputs("\nCPU quotas of the groups (cgroups) that targets are in, and of those around "
	      "them:\n",
	      out);
	table_column(table, "cgroup", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "processes", TABLE_RIGHT);
	table_column(table, "quota CPUs", TABLE_RIGHT);
	table_column(table, "CPU %", TABLE_RIGHT);
	table_column(table, "throttled periods", TABLE_RIGHT);
	table_column(table, "of periods", TABLE_RIGHT);
	table_column(table, "throttled ms", TABLE_RIGHT);
	for (uint32_t i = 0; i < groups->count; i++)
		group_row(table, model, &groups->row[i]);
	err = table_print(table, out);
	table_free(table);
	return err;
}
