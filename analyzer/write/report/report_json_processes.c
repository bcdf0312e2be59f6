/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/report/report_parts.h"

static void write_columns(struct json *json, const char *const *columns)
{
	json_array(json, "columns");
	for (; *columns; columns++)
		json_text(json, NULL, *columns);
	json_array_close(json);
}

#define UNKNOWN UINT64_MAX

static void write_row(struct json *json, const uint64_t *values, size_t count)
{
	json_array(json, NULL);
	for (size_t i = 0; i < count; i++)
		if (values[i] == UNKNOWN)
			json_null(json, NULL);
		else
			json_u64(json, NULL, values[i]);
	json_array_close(json);
}

static void write_series(struct json *json, const struct results *results, uint32_t process)
{
	static const char *const columns[] = {
		"start_ns",    "duration_ns",  "run_ns",       "user_ns",    "system_ns",
		"runnable_ns", "minor_faults", "major_faults", "read_bytes", "write_bytes",
		"read_chars",  "write_chars",  "rss_bytes",    NULL
	};
	const struct process_series *of = &results->series->of[process];
	bool split = of->has_split;

	if (!of->count)
		return;
	json_map(json, "series");
	write_columns(json, columns);
	json_array(json, "rows");
	for (uint32_t i = 0; i < of->count; i++) {
		const struct process_interval *row = &results->series->rows[of->first + i];
		const struct host_interval *when = &results->host->intervals[row->interval];
		const uint64_t values[] = {
			when->start_ns,
			when->end_ns - when->start_ns,
			row->run_ns,
			split ? row->user_ns : UNKNOWN,
			split ? row->system_ns : UNKNOWN,
			row->runnable_ns,
			row->minor_faults,
			row->major_faults,
			row->bytes.read_bytes,
			row->bytes.write_bytes,
			row->bytes.read_chars,
			row->bytes.write_chars,
			row->rss_bytes ? row->rss_bytes : UNKNOWN,
		};

		write_row(json, values, sizeof(values) / sizeof(values[0]));
	}
	json_array_close(json);
	json_map_close(json);
}

void json_process_facts(struct json *json, const struct model *model, const struct results *results,
			const struct process_usage *usage)
{
	const struct process *process = &model->processes.row[usage->process];

	if (usage->has_migrations) {
		json_u64(json, "minor_faults", usage->minor_faults);
		json_u64(json, "major_faults", usage->major_faults);
	}
	if (usage->has_bytes) {
		json_u64(json, "read_bytes", usage->bytes.read_bytes);
		json_u64(json, "write_bytes", usage->bytes.write_bytes);
		json_u64(json, "read_chars", usage->bytes.read_chars);
		json_u64(json, "write_chars", usage->bytes.write_chars);
	}
	if (usage->has_rss)
		json_u64(json, "rss_bytes", usage->rss_bytes);
	if (usage->peak_rss_bytes)
		json_u64(json, "peak_rss_bytes", usage->peak_rss_bytes);
	if (usage->ns_pid) {
		json_u64(json, "namespace_pid", usage->ns_pid);
		json_u64(json, "pid_namespace", usage->ns_inode);
	}
	if (usage->cgroup != INDEX_NONE) {
		const struct cgroup *cgroup = &model->cgroups.row[usage->cgroup];

		json_u64(json, "cgroup_id", cgroup->id);
		if (*model_text(model, cgroup->path))
			json_text(json, "cgroup", model_text(model, cgroup->path));
	}
	if (process->target && results->series && results->host)
		write_series(json, results, usage->process);
}

static void write_group_series(struct json *json, const struct cgroup_usage *usage)
{
	static const char *const columns[] = { "start_ns",     "duration_ns", "quota_ns",
					       "period_ns",    "periods",     "throttled_periods",
					       "throttled_ns", "usage_ns",    "user_ns",
					       "system_ns",    NULL };

	bool quota = usage->flags & MODEL_CGROUP_QUOTA;
	bool throttling = usage->flags & MODEL_CGROUP_THROTTLING;
	bool split = usage->flags & MODEL_CGROUP_SPLIT;

	json_map(json, "series");
	write_columns(json, columns);
	json_array(json, "rows");
	for (uint32_t i = 0; i < usage->interval_count; i++) {
		const struct cgroup_growth *row = &usage->intervals[i];
		const uint64_t values[] = {
			row->start_ns,
			row->end_ns - row->start_ns,
			quota && row->quota_ns ? row->quota_ns : UNKNOWN,
			quota && row->quota_ns ? row->period_ns : UNKNOWN,
			throttling ? row->periods : UNKNOWN,
			throttling ? row->throttled_periods : UNKNOWN,
			throttling ? row->throttled_ns : UNKNOWN,
			usage->flags & MODEL_CGROUP_USAGE ? row->usage_ns : UNKNOWN,
			split ? row->user_ns : UNKNOWN,
			split ? row->system_ns : UNKNOWN,
		};

		write_row(json, values, sizeof(values) / sizeof(values[0]));
	}
	json_array_close(json);
	json_map_close(json);
}

static void write_group(struct json *json, const struct model *model,
			const struct cgroup_usage *usage)
{
	const struct cgroup *cgroup = &model->cgroups.row[usage->cgroup];
	const struct cgroup_growth *all = &usage->all;

	json_map(json, NULL);
	json_u64(json, "id", cgroup->id);
	if (*model_text(model, cgroup->path))
		json_text(json, "path", model_text(model, cgroup->path));
	json_u64(json, "version", cgroup->version1 ? 1 : 2);
	json_u64(json, "processes", usage->processes);
	if (usage->flags & MODEL_CGROUP_QUOTA) {
		json_bool(json, "limited", all->quota_ns > 0);
		if (all->quota_ns) {
			json_u64(json, "quota_ns", all->quota_ns);
			json_u64(json, "period_ns", all->period_ns);
		}
	}
	if (usage->flags & MODEL_CGROUP_THROTTLING) {
		json_u64(json, "periods", all->periods);
		json_u64(json, "throttled_periods", all->throttled_periods);
		json_u64(json, "throttled_ns", all->throttled_ns);
	}
	if (usage->flags & MODEL_CGROUP_USAGE)
		json_u64(json, "usage_ns", all->usage_ns);
	if (usage->flags & MODEL_CGROUP_SPLIT) {
		json_u64(json, "user_ns", all->user_ns);
		json_u64(json, "system_ns", all->system_ns);
	}
	write_group_series(json, usage);
	json_map_close(json);
}

void json_cgroups(struct json *json, const struct model *model, const struct results *results)
{
	if (!results->cgroups || !model->cgroups.count)
		return;
	json_array(json, "cgroups");
	for (uint32_t i = 0; i < results->cgroups->count; i++)
		write_group(json, model, &results->cgroups->row[i]);
	json_array_close(json);
}
