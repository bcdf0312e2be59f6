/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/cgroup_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/host/interpolate.h"
#include "lib/base/bisect.h"

/* Readings are sorted by process. */
static uint32_t first_of(const struct model *model, uint32_t process)
{
	return BISECT(i, 0, model->process_stats.count, model->process_stats.row[i].process < process);
}

uint32_t process_stats_of(const struct model *model, uint32_t process, uint32_t *first)
{
	*first = first_of(model, process);
	return first_of(model, process + 1) - *first;
}

uint32_t cgroup_last(const struct model *model, uint32_t process)
{
	uint32_t first, count = process_stats_of(model, process, &first);

	while (count--)
		if (model->process_stats.row[first + count].cgroup != INDEX_NONE)
			return model->process_stats.row[first + count].cgroup;
	return INDEX_NONE;
}

static struct cgroup_growth growth(const struct cgroup_stat *from, const struct cgroup_stat *to)
{
	return (struct cgroup_growth){
		.start_ns = from->ts_ns,
		.end_ns = to->ts_ns,
		.periods = grown(from->periods, to->periods),
		.throttled_periods = grown(from->throttled_periods, to->throttled_periods),
		.throttled_ns = grown(from->throttled_ns, to->throttled_ns),
		.usage_ns = grown(from->usage_ns, to->usage_ns),
		.user_ns = grown(from->user_ns, to->user_ns),
		.system_ns = grown(from->system_ns, to->system_ns),
		.quota_ns = to->quota_ns,
		.period_ns = to->period_ns,
	};
}

/* The figures at an instant; rows[0 .. count) are of one cgroup, count > 0. */
static struct cgroup_stat stat_at(const struct cgroup_stat *rows, uint32_t count, uint64_t ts_ns)
{
	struct cgroup_stat at = rows[0];
	const struct cgroup_stat *after;
	struct place place;
	uint32_t i = 0;

	while (i + 1 < count && rows[i + 1].ts_ns <= ts_ns)
		i++;
	at = rows[i];
	if (i + 1 == count || ts_ns <= at.ts_ns)
		return at;
	after = &rows[i + 1];
	place = place_between(at.ts_ns, after->ts_ns, ts_ns);
	at.ts_ns = ts_ns;
	at.periods = interpolate(at.periods, after->periods, place);
	at.throttled_periods = interpolate(at.throttled_periods, after->throttled_periods, place);
	at.throttled_ns = interpolate(at.throttled_ns, after->throttled_ns, place);
	at.usage_ns = interpolate(at.usage_ns, after->usage_ns, place);
	at.user_ns = interpolate(at.user_ns, after->user_ns, place);
	at.system_ns = interpolate(at.system_ns, after->system_ns, place);
	return at;
}

/* The readings at a session's ends are taken just beside its ends: they stand for the ends, without interpolation. */
static void analyse_group(const struct trace_info *info, const struct cgroup_stat *rows,
			  uint32_t count, const struct analysis_window *window,
			  struct cgroup_results *results, uint32_t *used)
{
	struct cgroup_usage *usage = &results->row[results->count++];
	struct cgroup_stat from = window->from_ns == info->session_start_ns
					  ? rows[0]
					  : stat_at(rows, count, window->from_ns);
	struct cgroup_stat to = window->to_ns == info->session_end_ns
					? rows[count - 1]
					: stat_at(rows, count, window->to_ns);

	*usage = (struct cgroup_usage){
		.cgroup = rows->cgroup,
		.flags = UINT32_MAX,
		.all = growth(&from, &to),
		.intervals = results->intervals + *used,
	};
	for (uint32_t i = 0; i < count; i++) {
		usage->flags &= rows[i].flags;
		/* An interval belongs to the window if it begins there. */
		if (i == 0 || !analysis_has(rows[i - 1].ts_ns, window))
			continue;
		usage->intervals[usage->interval_count++] = growth(&rows[i - 1], &rows[i]);
	}
	*used += usage->interval_count;
}

static void count_processes(const struct model *model, struct cgroup_results *results)
{
	for (uint32_t i = 0; i < model->processes.count; i++) {
		uint32_t cgroup = cgroup_last(model, i);

		for (uint32_t g = 0; g < results->count && cgroup != INDEX_NONE; g++)
			results->row[g].processes += results->row[g].cgroup == cgroup;
	}
}

static int by_path(const void *a, const void *b, void *context)
{
	const struct model *model = context;
	const struct cgroup_usage *x = a, *y = b;
	int order = strcmp(model_text(model, model->cgroups.row[x->cgroup].path),
			   model_text(model, model->cgroups.row[y->cgroup].path));

	return order ? order : x->cgroup < y->cgroup ? -1 : x->cgroup > y->cgroup;
}

int cgroups_analyse(const struct model *model, const struct analysis_options *options,
		    struct cgroup_results *results)
{
	struct analysis_window window = analysis_window(model, options);
	const struct cgroup_stat *rows = model->cgroup_stats.row;
	uint32_t count = model->cgroup_stats.count, used = 0;

	*results = (struct cgroup_results){ 0 };
	results->row = calloc((size_t)model->cgroups.count + 1, sizeof(*results->row));
	results->intervals = calloc((size_t)count + 1, sizeof(*results->intervals));
	if (!results->row || !results->intervals)
		return -ENOMEM;
	for (uint32_t first = 0, next; first < count; first = next) {
		for (next = first; next < count && rows[next].cgroup == rows[first].cgroup;)
			next++;
		analyse_group(&model->info, rows + first, next - first, &window, results, &used);
	}
	if (results->count)
		qsort_r(results->row, results->count, sizeof(*results->row), by_path,
			(void *)model);
	count_processes(model, results);
	return 0;
}

void cgroups_free_results(struct cgroup_results *results)
{
	free(results->row);
	free(results->intervals);
	*results = (struct cgroup_results){ 0 };
}

bool cgroup_quota(const struct model *model, uint32_t cgroup, uint64_t *quota_ns,
		  uint64_t *period_ns)
{
	const struct cgroup_stat *rows = model->cgroup_stats.row;
	uint32_t next = BISECT(i, 0, model->cgroup_stats.count, rows[i].cgroup <= cgroup);

	if (!next || rows[next - 1].cgroup != cgroup || !(rows[next - 1].flags & MODEL_CGROUP_QUOTA) ||
	    !rows[next - 1].quota_ns || !rows[next - 1].period_ns)
		return false;
	*quota_ns = rows[next - 1].quota_ns;
	*period_ns = rows[next - 1].period_ns;
	return true;
}

/* Is @path the cgroup of an ancestor of @inner? */
static bool is_around(const char *path, const char *inner)
{
	size_t length = strlen(path);

	while (length && path[length - 1] == '/')
		length--;
	return !strncmp(path, inner, length) && inner[length] == '/';
}

uint32_t cgroup_limit(const struct model *model, uint32_t cgroup)
{
	const struct cgroup *own = &model->cgroups.row[cgroup];
	uint32_t limit = cgroup;
	double least = 0;

	for (uint32_t i = 0; i < model->cgroups.count; i++) {
		const struct cgroup *row = &model->cgroups.row[i];
		uint64_t quota_ns, period_ns;
		double cpus;

		if (i != cgroup && (row->version1 != own->version1 ||
				    !is_around(model_text(model, row->path),
					       model_text(model, own->path))))
			continue;
		if (!cgroup_quota(model, i, &quota_ns, &period_ns))
			continue;
		cpus = (double)quota_ns / (double)period_ns;
		if (least == 0 || cpus < least) {
			least = cpus;
			limit = i;
		}
	}
	return limit;
}
