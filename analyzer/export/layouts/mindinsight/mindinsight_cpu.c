/* SPDX-License-Identifier: Apache-2.0 */
/* MindInsight's CPU utilization: host, trainer and operators in each interval. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/host/process_series.h"
#include "analyzer/view/render/json.h"
#include "analyzer/export/layouts/mindinsight/mindinsight.h"

static double percent(uint64_t part_ns, uint64_t all_ns)
{
	return all_ns ? 100 * (double)part_ns / (double)all_ns : 0;
}

static uint64_t length(const struct host_interval *interval)
{
	return interval->end_ns - interval->start_ns;
}

enum host_value { USER, SYSTEM, IO, IDLE, HOST_SHARES };

static double host_share(const struct cpu_usage *cpu, enum host_value value)
{
	uint64_t all_ns = cpu->user_ns + cpu->system_ns + cpu->irq_ns + cpu->softirq_ns +
			  cpu->iowait_ns + cpu->idle_ns + cpu->steal_ns;

	switch (value) {
	case USER: return percent(cpu->user_ns, all_ns);
	case SYSTEM: return percent(cpu->system_ns, all_ns);
	case IO: return percent(cpu->iowait_ns, all_ns);
	default: return percent(cpu->idle_ns, all_ns);
	}
}

/*
 * The written intervals, and their usual length. MindInsight's averages give all intervals the same weight, so an
 * interval cut by the end of the recording or of the window would distort them; it is left out.
 */
struct samples {
	uint32_t from;
	uint32_t to;
	uint64_t usual_ns;
};

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool choose_samples(const struct host_results *host, struct samples *samples)
{
	uint32_t count = host->interval_count;
	uint64_t *lengths = calloc((size_t)count + 1, sizeof(*lengths));

	if (!lengths)
		return false;
	for (uint32_t i = 0; i < count; i++)
		lengths[i] = length(&host->intervals[i]);
	qsort(lengths, count, sizeof(*lengths), by_length);
	*samples = (struct samples){ 0, count, lengths[count / 2] };
	free(lengths);
	if (samples->to > 1 && length(&host->intervals[samples->to - 1]) < samples->usual_ns / 2)
		samples->to--;
	if (samples->to > 1 && length(&host->intervals[0]) < samples->usual_ns / 2)
		samples->from++;
	return true;
}

static void write_host(struct json *json, const struct host_results *host,
		       const struct samples *samples)
{
	static const char *const NAMES[HOST_SHARES] = { "user_utilization", "sys_utilization",
							"io_utilization", "idle_utilization" };

	json_map(json, "device_info");
	json_array(json, "context_switch_count");
	for (uint32_t i = samples->from; i < samples->to; i++)
		json_u64(json, NULL, host->intervals[i].context_switches);
	json_array_close(json);
	json_array(json, "runnable_process");
	for (uint32_t i = samples->from; i < samples->to; i++)
		json_u64(json, NULL, host->intervals[i].runnable);
	json_array_close(json);
	for (int value = 0; value < HOST_SHARES; value++) {
		json_array(json, NAMES[value]);
		for (uint32_t i = samples->from; i < samples->to; i++)
			json_decimal(json, NULL, host_share(&host->intervals[i].all, value));
		json_array_close(json);
	}
	json_map_close(json);
}

/* Writes a process; intervals without CPU time have no row. */
static void write_process(struct json *json, const struct mindinsight *mi,
			  const struct samples *samples, const char *key, bool system)
{
	const struct series_results *series = mi->results->series;
	const struct host_results *host = mi->results->host;
	const struct process_series *of = &series->of[mi->usage->pipeline->process];
	uint32_t at = 0;

	json_array(json, key);
	for (uint32_t i = 0; i < samples->to; i++) {
		const struct process_interval *row = &series->rows[of->first + at];
		uint64_t ns = 0;

		if (at < of->count && row->interval == i) {
			at++;
			if (of->has_split)
				ns = system ? row->system_ns : row->user_ns;
			else
				ns = system ? 0 : row->run_ns;
		}
		if (i >= samples->from)
			json_decimal(json, NULL, percent(ns, length(&host->intervals[i])));
	}
	json_array_close(json);
}

static void write_operator(struct json *json, const struct mindinsight *mi,
			   const struct samples *samples, uint32_t id, const char *key, bool system)
{
	const struct host_results *host = mi->results->host;
	const struct operator_interval *cells =
		mi->series.cells + (size_t)mi->op[id] * mi->series.interval_count;

	json_array(json, key);
	for (uint32_t i = samples->from; i < samples->to && i < mi->series.interval_count; i++)
		json_decimal(json, NULL,
			     percent(system ? cells[i].system_ns : cells[i].user_ns,
				     length(&host->intervals[i])));
	json_array_close(json);
}

static void write_operators(struct json *json, const struct mindinsight *mi,
			    const struct samples *samples)
{
	json_array(json, "op_info");
	for (uint32_t id = 0; id < mi->count; id++) {
		json_map(json, NULL);
		json_map(json, "metrics");
		write_operator(json, mi, samples, id, "sys_utilization", true);
		write_operator(json, mi, samples, id, "user_utilization", false);
		json_map_close(json);
		json_u64(json, "op_id", id);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_document(struct json *json, const struct mindinsight *mi,
			   const struct samples *samples)
{
	const struct host_results *host = mi->results->host;

	json_map(json, NULL);
	json_u64(json, "cpu_processor_num", host->cpu_count);
	write_host(json, host, samples);
	write_operators(json, mi, samples);
	json_map(json, "process_info");
	write_process(json, mi, samples, "sys_utilization", true);
	write_process(json, mi, samples, "user_utilization", false);
	json_map_close(json);
	json_u64(json, "sampling_interval", (samples->usual_ns + 500000) / 1000000);
	/* MindInsight treats a value as the load between two of these timestamps. */
	json_array(json, "time_stamp");
	json_u64(json, NULL, host->intervals[samples->from].start_ns / 1000000);
	for (uint32_t i = samples->from; i < samples->to; i++)
		json_u64(json, NULL, host->intervals[i].end_ns / 1000000);
	json_array_close(json);
	json_map_close(json);
}

int mindinsight_cpu(FILE *out, const struct mindinsight *mi)
{
	struct json *json = json_new(out, false);
	struct samples samples;

	if (!json)
		return -ENOMEM;
	if (choose_samples(mi->results->host, &samples)) {
		write_document(json, mi, &samples);
		return json_end(json);
	}
	json_end(json);
	return -ENOMEM;
}
