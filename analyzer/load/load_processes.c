/* SPDX-License-Identifier: Apache-2.0 */
/* Packets about processes, and about their cgroups. */
#include "analyzer/load/loader_private.h"

#include "lib/trace/column.h"

static bool processes_fit(const Profbpf__Processes *m, size_t *rows)
{
	return COLUMN_ROWS(rows, m->n_ts_ns, m->n_tgid, m->n_flags, m->n_threads, m->n_ns_pid,
			   m->n_ns_inode, m->n_cgroup, m->n_rss_bytes, m->n_peak_rss_bytes,
			   m->n_gone_run_ns, m->n_gone_user_ns, m->n_gone_system_ns) == 0;
}

/* MAP_NONE and INDEX_NONE are equal: unknown. */
static uint32_t cgroup_index(const struct loader *loader, uint64_t id)
{
	return id ? map_get(&loader->cgroup_map, id) : INDEX_NONE;
}

bool load_processes(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Processes *m = LOADER_UNPACK(processes, packet);
	struct process_stat row = { 0 };
	size_t rows;

	if (!m || !processes_fit(m, &rows))
		return false;
	for (size_t i = 0; i < rows; i++) {
		row.ts_ns += (uint64_t)COLUMN_AT(m, ts_ns, i);
		row.process = COLUMN_AT(m, tgid, i);
		row.flags = COLUMN_AT(m, flags, i);
		row.threads = COLUMN_AT(m, threads, i);
		row.ns_pid = COLUMN_AT(m, ns_pid, i);
		row.ns_inode = COLUMN_AT(m, ns_inode, i);
		row.cgroup = cgroup_index(loader, COLUMN_AT(m, cgroup, i));
		row.rss_bytes = COLUMN_AT(m, rss_bytes, i);
		row.peak_rss_bytes = COLUMN_AT(m, peak_rss_bytes, i);
		row.gone_run_ns = COLUMN_AT(m, gone_run_ns, i);
		row.gone_user_ns = COLUMN_AT(m, gone_user_ns, i);
		row.gone_system_ns = COLUMN_AT(m, gone_system_ns, i);
		if (row.process == 0) {
			loader->model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&loader->model->process_stats, row))
			return loader_out_of_memory(loader);
		loader_reached(loader, row.ts_ns);
	}
	return true;
}

static bool load_cgroup(struct loader *loader, const Profbpf__Cgroup *from)
{
	struct model *model = loader->model;
	struct cgroup row = { .id = from->id,
			      .path = model_string(model, from->path),
			      .version1 = from->version1,
			      .container_name = model_string(model, from->container_name),
			      .image = model_string(model, from->image),
			      .pod_name = model_string(model, from->pod_name),
			      .pod_namespace = model_string(model, from->pod_namespace) };

	return row.path != INDEX_NONE && row.container_name != INDEX_NONE && row.image != INDEX_NONE &&
	       row.pod_name != INDEX_NONE && row.pod_namespace != INDEX_NONE &&
	       map_put(&loader->cgroup_map, row.id, model->cgroups.count) && MODEL_PUSH(&model->cgroups, row);
}

/* Each segment repeats its cgroups. */
bool load_cgroups(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Cgroups *m = LOADER_UNPACK(cgroups, packet);

	if (!m)
		return false;
	for (size_t i = 0; i < m->n_cgroup; i++) {
		const Profbpf__Cgroup *from = m->cgroup[i];

		if (from->id == 0) {
			loader->model->bad_rows++;
			continue;
		}
		if (cgroup_index(loader, from->id) != INDEX_NONE)
			continue;
		if (!load_cgroup(loader, from))
			return loader_out_of_memory(loader);
	}
	return true;
}

static bool cgroup_stats_fit(const Profbpf__CgroupStats *m, size_t *rows)
{
	return COLUMN_ROWS(rows, m->n_ts_ns, m->n_cgroup, m->n_flags, m->n_quota_ns, m->n_period_ns,
			   m->n_periods, m->n_throttled_periods, m->n_throttled_ns, m->n_usage_ns,
			   m->n_user_ns, m->n_system_ns) == 0;
}

bool load_cgroup_stats(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__CgroupStats *m = LOADER_UNPACK(cgroup_stats, packet);
	struct cgroup_stat row = { 0 };
	size_t rows;

	if (!m || !cgroup_stats_fit(m, &rows))
		return false;
	for (size_t i = 0; i < rows; i++) {
		row.ts_ns += (uint64_t)COLUMN_AT(m, ts_ns, i);
		row.cgroup = cgroup_index(loader, COLUMN_AT(m, cgroup, i));
		row.flags = COLUMN_AT(m, flags, i);
		row.quota_ns = COLUMN_AT(m, quota_ns, i);
		row.period_ns = COLUMN_AT(m, period_ns, i);
		row.periods = COLUMN_AT(m, periods, i);
		row.throttled_periods = COLUMN_AT(m, throttled_periods, i);
		row.throttled_ns = COLUMN_AT(m, throttled_ns, i);
		row.usage_ns = COLUMN_AT(m, usage_ns, i);
		row.user_ns = COLUMN_AT(m, user_ns, i);
		row.system_ns = COLUMN_AT(m, system_ns, i);
		if (row.cgroup == INDEX_NONE) {
			loader->model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&loader->model->cgroup_stats, row))
			return loader_out_of_memory(loader);
		loader_reached(loader, row.ts_ns);
	}
	return true;
}
