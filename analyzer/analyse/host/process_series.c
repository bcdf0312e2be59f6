/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/process_series.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/host/cgroup_limits.h"
#include "analyzer/analyse/host/cpu_split.h"
#include "analyzer/analyse/host/interpolate.h"
#include "proto/trace.pb-c.h"
#include "lib/base/bisect.h"

/* Until split(), user_ns and system_ns of rows are the timer tick's. */
struct work {
	const struct model *model;
	const struct host_results *host;
	uint32_t *interval_of; /* host_stats row -> the interval that ends with it, or INDEX_NONE */
	struct cpu_sums *before; /* per process: its use when the session began */
	bool *known;
	struct process_interval *rows;
	uint32_t count;
};

/* Number of readings of the host's figures at or before an instant. */
static uint32_t readings_until(const struct model *model, uint64_t ts_ns)
{
	return BISECT(i, 0, model->host_stats.count, model->host_stats.row[i].ts_ns <= ts_ns);
}

/* The interval that an account's growth belongs to. */
static uint32_t interval_at(const struct work *work, const struct account *account)
{
	uint32_t readings = readings_until(work->model, account->ts_ns);
	bool final = account->flags & PROFBPF__ACCOUNTS__FLAG__FINAL;

	if (final && readings < work->model->host_stats.count)
		readings++;
	return readings ? work->interval_of[readings - 1] : INDEX_NONE;
}

static bool map_intervals(struct work *work, const struct host_results *host)
{
	const struct model *model = work->model;
	uint32_t next = 0;

	work->interval_of = calloc((size_t)model->host_stats.count + 1, sizeof(uint32_t));
	if (!work->interval_of)
		return false;
	for (uint32_t i = 0; i < model->host_stats.count; i++) {
		while (next < host->interval_count && host->intervals[next].reading < i)
			next++;
		work->interval_of[i] =
			next < host->interval_count && host->intervals[next].reading == i
				? next
				: INDEX_NONE;
	}
	return true;
}

/* The part of the time between two readings that is in the window; all of it where the session begins or ends. */
static struct place kept_part(const struct work *work, uint32_t interval)
{
	const struct host_interval *row = &work->host->intervals[interval];
	const struct host_stat *after = &work->model->host_stats.row[row->reading];
	const struct host_stat *before = after - 1;
	uint64_t from_ns = row->start_ns, to_ns = row->end_ns;

	if (from_ns <= work->model->info.start_ns)
		from_ns = before->ts_ns;
	if (to_ns >= work->model->info.end_ns)
		to_ns = after->ts_ns;
	return (struct place){ to_ns - from_ns, after->ts_ns - before->ts_ns };
}

static void add_growth(struct work *work, const struct account *before, const struct account *after,
		       uint32_t process)
{
	uint32_t interval = interval_at(work, after);
	struct place part = { 1, 1 };

	if (interval != INDEX_NONE)
		part = kept_part(work, interval);
#define GROWN(field) interpolate(0, grown(before->field, after->field), part)
	work->rows[work->count++] = (struct process_interval){
		.process = process,
		.interval = interval,
		.run_ns = GROWN(run_ns),
		.user_ns = GROWN(user_ns),
		.system_ns = GROWN(system_ns),
		.runnable_ns = GROWN(runnable_ns),
		.voluntary = GROWN(voluntary),
		.involuntary = GROWN(involuntary),
		.minor_faults = GROWN(minor_faults),
		.major_faults = GROWN(major_faults),
		.bytes = { GROWN(read_bytes), GROWN(write_bytes), GROWN(read_chars),
			   GROWN(write_chars) },
	};
#undef GROWN
}

static void gather(struct work *work)
{
	const struct model *model = work->model;
	const struct account none = { 0 };

	for (uint32_t i = 0; i < model->accounts.count; i++) {
		const struct account *row = &model->accounts.row[i];
		const struct thread *thread = &model->threads.row[row->thread];
		bool first = i == 0 || row[-1].thread != row->thread;

		if (thread->process >= model->processes.count)
			continue;
		if (first && (row->flags & PROFBPF__ACCOUNTS__FLAG__FIRST ||
			      thread->start_ns < model->info.session_start_ns)) {
			struct cpu_sums *sums = &work->before[thread->process];

			sums->run_ns += row->run_ns;
			sums->user_ticks_ns += row->user_ns;
			sums->system_ticks_ns += row->system_ns;
			continue;
		}
		add_growth(work, first ? &none : row - 1, row, thread->process);
	}
}

static int by_process_interval(const void *a, const void *b)
{
	const struct process_interval *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	/* INDEX_NONE, outside the window, sorts last: such rows are dropped. */
	return x->interval < y->interval ? -1 : x->interval > y->interval;
}

static void merge(struct work *work)
{
	uint32_t kept = 0;

	if (work->count)
		qsort(work->rows, work->count, sizeof(*work->rows), by_process_interval);
	for (uint32_t i = 0; i < work->count; i++) {
		const struct process_interval *row = &work->rows[i];
		struct process_interval *into = kept ? &work->rows[kept - 1] : NULL;

		if (!into || by_process_interval(into, row) != 0) {
			work->rows[kept++] = *row;
			continue;
		}
		into->run_ns += row->run_ns;
		into->user_ns += row->user_ns;
		into->system_ns += row->system_ns;
		into->runnable_ns += row->runnable_ns;
		into->voluntary += row->voluntary;
		into->involuntary += row->involuntary;
		into->minor_faults += row->minor_faults;
		into->major_faults += row->major_faults;
		into->bytes.read_bytes += row->bytes.read_bytes;
		into->bytes.write_bytes += row->bytes.write_bytes;
		into->bytes.read_chars += row->bytes.read_chars;
		into->bytes.write_chars += row->bytes.write_chars;
	}
	work->count = kept;
}

/* Replaces ticks by the kernel's split: sums over the process's life, interval by interval. */
static void split(struct work *work)
{
	struct cpu_sums sums = { 0 };

	for (uint32_t i = 0; i < work->count; i++) {
		struct process_interval *row = &work->rows[i];
		struct cpu_sums after;
		struct cpu_split used;

		if (i == 0 || row[-1].process != row->process)
			sums = work->before[row->process];
		after = (struct cpu_sums){ sums.run_ns + row->run_ns,
					   sums.user_ticks_ns + row->user_ns,
					   sums.system_ticks_ns + row->system_ns };
		used = cpu_split_growth(&sums, &after);
		row->system_ns = cpu_split_scale(&used, row->run_ns);
		row->user_ns = row->run_ns - row->system_ns;
		sums = after;
	}
}

/* Counts active processes, and keeps the targets' rows inside the window. */
static void keep(struct work *work, struct host_results *host, struct series_results *results)
{
	const struct process *processes = work->model->processes.row;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < work->count; i++) {
		const struct process_interval row = work->rows[i];
		struct process_series *of = &results->of[row.process];

		if (row.interval == INDEX_NONE)
			continue;
		host->intervals[row.interval].active_processes += row.run_ns > 0;
		if (!processes[row.process].target)
			continue;
		if (of->count++ == 0)
			*of = (struct process_series){ kept, 1, work->known[row.process] };
		work->rows[kept++] = row;
	}
	results->rows = work->rows;
	results->row_count = kept;
	work->rows = NULL;
}

/* Readings of processes also come right after the host's. */
static void add_memory(const struct work *work, struct series_results *results)
{
	const struct model *model = work->model;

	for (uint32_t p = 0; p < model->processes.count; p++) {
		struct process_series *of = &results->of[p];
		uint32_t first, count = of->count ? process_stats_of(model, p, &first) : 0, at = 0;
		uint64_t rss = 0;

		for (uint32_t i = 0; i < of->count && count; i++) {
			struct process_interval *row = &results->rows[of->first + i];

			for (; at < count; at++) {
				const struct process_stat *stat =
					&model->process_stats.row[first + at];
				uint32_t readings = readings_until(model, stat->ts_ns);
				uint32_t interval = readings ? work->interval_of[readings - 1]
							     : INDEX_NONE;

				if (interval != INDEX_NONE && interval > row->interval)
					break;
				if (stat->flags & PROFBPF__PROCESSES__FLAG__HAS_RSS)
					rss = stat->rss_bytes;
			}
			row->rss_bytes = rss;
		}
	}
}

int series_analyse(const struct model *model, struct host_results *host,
		   struct series_results *results)
{
	size_t processes = (size_t)model->processes.count + 1;
	struct work work = { .model = model, .host = host };
	int err = -ENOMEM;

	*results = (struct series_results){ 0 };
	results->of = calloc(processes, sizeof(*results->of));
	work.before = calloc(processes, sizeof(*work.before));
	work.known = calloc(processes, sizeof(*work.known));
	work.rows = calloc((size_t)model->accounts.count + 1, sizeof(*work.rows));
	if (!results->of || !work.before || !work.known || !work.rows ||
	    !map_intervals(&work, host))
		goto cleanup;
	process_cpu_before(model, work.before, work.known);
	gather(&work);
	merge(&work);
	split(&work);
	keep(&work, host, results);
	add_memory(&work, results);
	err = 0;
cleanup:
	free(work.interval_of);
	free(work.before);
	free(work.known);
	free(work.rows);
	return err;
}

void series_free(struct series_results *results)
{
	free(results->rows);
	free(results->of);
	*results = (struct series_results){ 0 };
}
