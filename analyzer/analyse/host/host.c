/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/host.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/host/interpolate.h"

#define FIELDS 7

static void fields_of(const struct cpu_stat *stat, uint64_t fields[FIELDS])
{
	fields[0] = stat->user_ns;
	fields[1] = stat->system_ns;
	fields[2] = stat->irq_ns;
	fields[3] = stat->softirq_ns;
	fields[4] = stat->iowait_ns;
	fields[5] = stat->idle_ns;
	fields[6] = stat->steal_ns;
}

static struct cpu_usage usage_of(uint32_t cpu, const uint64_t fields[FIELDS])
{
	return (struct cpu_usage){
		.cpu = cpu,
		.user_ns = fields[0],
		.system_ns = fields[1],
		.irq_ns = fields[2],
		.softirq_ns = fields[3],
		.iowait_ns = fields[4],
		.idle_ns = fields[5],
		.steal_ns = fields[6],
	};
}

static void add_usage(struct cpu_usage *sum, const struct cpu_usage *usage)
{
	sum->user_ns += usage->user_ns;
	sum->system_ns += usage->system_ns;
	sum->irq_ns += usage->irq_ns;
	sum->softirq_ns += usage->softirq_ns;
	sum->iowait_ns += usage->iowait_ns;
	sum->idle_ns += usage->idle_ns;
	sum->steal_ns += usage->steal_ns;
}

double cpu_utilization(const struct cpu_usage *usage)
{
	double busy = (double)usage->user_ns + (double)usage->system_ns + (double)usage->irq_ns +
		      (double)usage->softirq_ns;
	double all =
		busy + (double)usage->iowait_ns + (double)usage->idle_ns + (double)usage->steal_ns;

	return all > 0 ? 100 * busy / all : NAN;
}

/* Figures of one CPU at an instant; rows[0 .. count) are its snapshots, count > 0. */
static void fields_at(const struct cpu_stat *rows, uint32_t count, uint64_t ts_ns,
		      uint64_t fields[FIELDS])
{
	uint64_t after[FIELDS];
	uint32_t i = 0;
	struct place place;

	while (i + 2 < count && rows[i + 1].ts_ns < ts_ns)
		i++;
	fields_of(&rows[i], fields);
	if (count == 1)
		return;
	fields_of(&rows[i + 1], after);
	place = place_between(rows[i].ts_ns, rows[i + 1].ts_ns, ts_ns);
	for (int f = 0; f < FIELDS; f++)
		fields[f] = interpolate(fields[f], after[f], place);
}

static struct cpu_usage usage_between(const struct cpu_stat *rows, uint32_t count, uint64_t from_ns,
				      uint64_t to_ns)
{
	uint64_t before[FIELDS], after[FIELDS];

	fields_at(rows, count, from_ns, before);
	fields_at(rows, count, to_ns, after);
	for (int f = 0; f < FIELDS; f++)
		after[f] = grown(before[f], after[f]);
	return usage_of(rows[0].cpu, after);
}

static bool analyse_cpus(const struct model *model, struct host_results *results)
{
	const struct cpu_stat *rows = model->cpu_stats.row;
	uint32_t count = model->cpu_stats.count, cpus = 0;

	for (uint32_t i = 0; i < count; i++)
		cpus += i == 0 || rows[i].cpu != rows[i - 1].cpu;
	results->cpus = calloc(cpus + 1, sizeof(*results->cpus));
	if (!results->cpus)
		return false;
	results->all.cpu = INDEX_NONE;
	for (uint32_t first = 0, next; first < count; first = next) {
		struct cpu_usage *usage = &results->cpus[results->cpu_count++];

		for (next = first; next < count && rows[next].cpu == rows[first].cpu;)
			next++;
		*usage =
			usage_between(rows + first, next - first, results->from_ns, results->to_ns);
		add_usage(&results->all, usage);
	}
	return true;
}

static struct host_interval interval_between(const struct host_stat *before,
					     const struct host_stat *after, uint64_t from_ns,
					     uint64_t to_ns)
{
	struct host_interval interval = { .start_ns = before->ts_ns > from_ns ? before->ts_ns : from_ns,
					  .end_ns = after->ts_ns < to_ns ? after->ts_ns : to_ns,
					  .runnable = after->runnable,
					  .blocked = after->blocked };
	struct place start = place_between(before->ts_ns, after->ts_ns, interval.start_ns);
	struct place end = place_between(before->ts_ns, after->ts_ns, interval.end_ns);

	interval.all.cpu = INDEX_NONE;
	interval.context_switches =
		grown(interpolate(before->context_switches, after->context_switches, start),
		      interpolate(before->context_switches, after->context_switches, end));
	interval.forks = grown(interpolate(before->forks, after->forks, start),
			       interpolate(before->forks, after->forks, end));
	return interval;
}

static bool list_intervals(const struct model *model, struct host_results *results)
{
	const struct host_stat *host = model->host_stats.row;
	uint32_t count = model->host_stats.count;

	results->intervals = calloc(count, sizeof(*results->intervals));
	if (!results->intervals)
		return false;
	for (uint32_t i = 1; i < count; i++) {
		struct host_interval interval = interval_between(
			&host[i - 1], &host[i], results->from_ns, results->to_ns);

		interval.reading = i;
		if (interval.end_ns > interval.start_ns)
			results->intervals[results->interval_count++] = interval;
	}
	return true;
}

/* Sums of each CPU in each interval; the rows of one snapshot have one instant. */
static bool sum_snapshots(const struct model *model, struct host_results *results)
{
	const struct host_stat *host = model->host_stats.row;
	const struct cpu_stat *rows = model->cpu_stats.row;
	uint32_t cpu = 0;

	if (!list_intervals(model, results))
		return false;
	/* A file may name a new CPU in each reading: then nearly all cells would be empty. */
	if ((uint64_t)results->cpu_count * results->interval_count <=
	    4 * (uint64_t)model->cpu_stats.count + 1024) {
		results->cells = calloc((size_t)results->cpu_count * results->interval_count + 1,
					sizeof(*results->cells));
		if (!results->cells)
			return false;
	}
	/* Both are in order of time: one pass over the snapshots of each CPU. */
	for (uint32_t i = 1, at = 0; i < model->cpu_stats.count; i++) {
		const struct host_interval *interval;
		struct cpu_usage usage;

		if (rows[i].cpu != rows[i - 1].cpu) {
			at = 0;
			cpu++;
			continue;
		}
		while (at < results->interval_count &&
		       host[results->intervals[at].reading].ts_ns < rows[i].ts_ns)
			at++;
		if (at == results->interval_count)
			continue;
		interval = &results->intervals[at];
		if (host[interval->reading - 1].ts_ns != rows[i - 1].ts_ns ||
		    host[interval->reading].ts_ns != rows[i].ts_ns)
			continue;
		usage = usage_between(&rows[i - 1], 2, interval->start_ns, interval->end_ns);
		add_usage(&results->intervals[at].all, &usage);
		if (results->cells)
			results->cells[(size_t)cpu * results->interval_count + at] = usage;
	}
	return true;
}

static uint64_t switches_at(const struct model *model, uint64_t ts_ns, uint64_t *forks)
{
	const struct host_stat *rows = model->host_stats.row;
	uint32_t count = model->host_stats.count, i = 0;
	struct place place;

	while (i + 2 < count && rows[i + 1].ts_ns < ts_ns)
		i++;
	place = place_between(rows[i].ts_ns, rows[i + 1].ts_ns, ts_ns);
	*forks = interpolate(rows[i].forks, rows[i + 1].forks, place);
	return interpolate(rows[i].context_switches, rows[i + 1].context_switches, place);
}

static void take_means(const struct model *model, struct host_results *results)
{
	double runnable = 0, blocked = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->host_stats.count; i++) {
		const struct host_stat *row = &model->host_stats.row[i];

		if (row->ts_ns < results->from_ns || row->ts_ns > results->to_ns)
			continue;
		runnable += row->runnable;
		blocked += row->blocked;
		count++;
	}
	results->runnable_mean = count ? runnable / count : NAN;
	results->blocked_mean = count ? blocked / count : NAN;
}

int host_analyse(const struct model *model, const struct analysis_options *options,
		 struct host_results *results)
{
	struct analysis_window window = analysis_window(model, options);
	const struct host_stat *rows = model->host_stats.row;
	uint32_t count = model->host_stats.count;
	uint64_t switches, forks, later_forks;

	*results = (struct host_results){ .runnable_mean = NAN, .blocked_mean = NAN };
	if (count < 2)
		return 0;
	results->from_ns = window.from_ns > rows[0].ts_ns ? window.from_ns : rows[0].ts_ns;
	results->to_ns = window.to_ns < rows[count - 1].ts_ns ? window.to_ns
							      : rows[count - 1].ts_ns;
	if (results->to_ns <= results->from_ns)
		return 0;
	if (!analyse_cpus(model, results) || !sum_snapshots(model, results))
		return -ENOMEM;
	switches = switches_at(model, results->from_ns, &forks);
	results->context_switches =
		grown(switches, switches_at(model, results->to_ns, &later_forks));
	results->forks = grown(forks, later_forks);
	take_means(model, results);
	results->known = true;
	return 0;
}

void host_free(struct host_results *results)
{
	free(results->cpus);
	free(results->intervals);
	free(results->cells);
	*results = (struct host_results){ 0 };
}

double host_idle_cpus(const struct host_results *host)
{
	if (!host || !host->known || host->to_ns <= host->from_ns)
		return NAN;
	return (double)(host->all.idle_ns + host->all.iowait_ns) / (double)(host->to_ns - host->from_ns);
}
