/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of MindSpore's data profiler: CPU use, sizes of queues; and its log of batches.
 *
 * The files have known errors, which are corrected here (MindSpore 2.0 to 2.10, engine/perf/cpu_sampler.cc): the
 * host is read twice for each sample. In the arrays of idle and I/O time, context switches and runnable threads
 * every second entry is superfluous; also in those of user and system time, which are then truncated to the number
 * of samples, so that their second half is lost.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/readers/json_file.h"
#include "analyzer/import/mindspore/minddata_folder.h"

#define CPUS_MAX 65536
#define SHARE_MAX_NS 1e18 /* a larger share is impossible */
#define MS 1000000ull
#define MS_MAX (UINT64_MAX / MS / 4)
#define VALUE_MAX_MS 86400000.0 /* a day: no batch takes longer */

static uint64_t share_of(uint64_t ns, double percent)
{
	double part = (double)ns * percent / 100;

	return part > 0 && part < SHARE_MAX_NS ? (uint64_t)part : 0;
}

static int take_stamps(struct minddata_rank *rank, yajl_val cpu)
{
	yajl_val list = json_file_list(cpu, "time_stamp");
	size_t count = list ? list->u.array.len : 0;

	rank->stamps = calloc(count + 1, sizeof(*rank->stamps));
	if (!rank->stamps)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		double ms = minddata_number(list, i);
		uint64_t ns = ms > 0 && ms < (double)MS_MAX ? (uint64_t)ms * MS : 0;

		/* Instants have to increase: intervals between others are useless. */
		if (!ns || (rank->stamp_count && ns <= rank->stamps[rank->stamp_count - 1])) {
			if (import_finding(rank->import, "instants that do not rise", NULL))
				return -ENOMEM;
			break;
		}
		rank->stamps[rank->stamp_count++] = ns;
	}
	return 0;
}

/*
 * The value of the interval between two instants, of which @i is the later one: there is one value per instant,
 * where the first one has no interval, or one value less than instants.
 */
static double value_at(yajl_val array, size_t i, size_t stamps)
{
	return minddata_number(array, array && array->u.array.len < stamps ? i - 1 : i);
}

static int take_operator(struct minddata_rank *rank, uint32_t op, yajl_val metrics)
{
	yajl_val user = json_file_list(metrics, "user_utilization");
	yajl_val system = json_file_list(metrics, "sys_utilization");

	for (size_t i = 1; i < rank->stamp_count; i++) {
		struct imported_cpu row = { .start_ns = rank->stamps[i - 1],
					    .end_ns = rank->stamps[i],
					    .op = op };
		uint64_t ns = row.end_ns - row.start_ns;

		row.user_ns = share_of(ns, value_at(user, i, rank->stamp_count));
		row.system_ns = share_of(ns, value_at(system, i, rank->stamp_count));
		if (!MODEL_PUSH(&rank->import->model->imported_cpu, row))
			return -ENOMEM;
	}
	return 0;
}

/* A value of the host's arrays; with @doubled every second entry is skipped. */
static double host_value(yajl_val array, size_t i, size_t stamps, bool doubled)
{
	return doubled ? minddata_number(array, 2 * i) : value_at(array, i, stamps);
}

struct host_arrays {
	yajl_val user, system, idle, io, switches, runnable;
	bool doubled;
	double user_share; /* user's part of the sum of user and system, where both are known */
};

static struct host_arrays host_arrays(const struct minddata_rank *rank, yajl_val device)
{
	struct host_arrays host = {
		.user = json_file_list(device, "user_utilization"),
		.system = json_file_list(device, "sys_utilization"),
		.idle = json_file_list(device, "idle_utilization"),
		.io = json_file_list(device, "io_utilization"),
		.switches = json_file_list(device, "context_switch_count"),
		.runnable = json_file_list(device, "runnable_process"),
	};
	double user = 0, system = 0;

	host.doubled = host.idle && host.user && rank->stamp_count > 1 &&
		       host.idle->u.array.len >= 2 * rank->stamp_count - 1 &&
		       host.user->u.array.len <= rank->stamp_count;
	for (size_t i = 1; i < rank->stamp_count; i++) {
		user += host_value(host.user, i, rank->stamp_count, host.doubled);
		system += host_value(host.system, i, rank->stamp_count, host.doubled);
	}
	host.user_share = user + system > 0 ? user / (user + system) : 1;
	return host;
}

static bool add_host(struct minddata_rank *rank, const struct host_arrays *host, size_t i,
		     uint64_t all_ns, struct cpu_stat *cpu, struct host_stat *stat)
{
	struct model *model = rank->import->model;
	double idle = host_value(host->idle, i, rank->stamp_count, host->doubled);
	double io = host_value(host->io, i, rank->stamp_count, host->doubled);
	double switches = host_value(host->switches, i, rank->stamp_count, host->doubled);
	double runnable = host_value(host->runnable, i, rank->stamp_count, host->doubled);
	double user = host_value(host->user, i, rank->stamp_count, host->doubled);
	double system = host_value(host->system, i, rank->stamp_count, host->doubled);

	if (host->doubled) {
		double busy = idle + io < 100 ? 100 - idle - io : 0;

		/*
		 * The sum of user and system is the time that is neither idle nor I/O; for half of the run only the
		 * sum is known.
		 */
		user = busy * host->user_share;
		system = busy - user;
	}
	cpu->ts_ns = stat->ts_ns = rank->stamps[i];
	cpu->user_ns += share_of(all_ns, user);
	cpu->system_ns += share_of(all_ns, system);
	cpu->iowait_ns += share_of(all_ns, io);
	cpu->idle_ns += share_of(all_ns, idle);
	stat->context_switches += switches > 0 && switches < 1e12 ? (uint64_t)switches : 0;
	stat->runnable = runnable > 0 && runnable < 1e6 ? (uint32_t)runnable : 0;
	return MODEL_PUSH(&model->cpu_stats, *cpu) && MODEL_PUSH(&model->host_stats, *stat);
}

/* Adds all CPUs together as one row: the files do not distinguish them. */
static int take_host(struct minddata_rank *rank, yajl_val cpu_file)
{
	const char *path[] = { "device_info", NULL };
	struct host_arrays host = host_arrays(rank, yajl_tree_get(cpu_file, path, yajl_t_object));
	int64_t cpus = json_file_integer(cpu_file, "cpu_processor_num", 0);
	struct model *model = rank->import->model;
	struct cpu_stat cpu = { .cpu = 0 };
	struct host_stat stat = { .ts_ns = 0 };

	/* Ranks share the host: the first one adds it. */
	if (model->cpu_stats.count || rank->stamp_count < 2 || cpus < 1 || cpus > CPUS_MAX)
		return 0;
	model->info.cpus = (uint32_t)cpus;
	cpu.ts_ns = stat.ts_ns = rank->stamps[0];
	if (!MODEL_PUSH(&model->cpu_stats, cpu) || !MODEL_PUSH(&model->host_stats, stat))
		return -ENOMEM;
	for (size_t i = 1; i < rank->stamp_count; i++)
		if (!add_host(rank, &host, i,
			      (rank->stamps[i] - rank->stamps[i - 1]) * (uint64_t)cpus, &cpu,
			      &stat))
			return -ENOMEM;
	if (!host.doubled)
		return 0;
	return import_finding(rank->import,
			      "the host's figures are there twice, user and system time of the "
			      "second half not at all: put right; what was busy is divided into "
			      "user and system as in the first half",
			      NULL);
}

int minddata_take_cpu(struct minddata_rank *rank, yajl_val cpu)
{
	const char *metrics_path[] = { "metrics", NULL };
	yajl_val list = json_file_list(cpu, "op_info");
	int err = take_stamps(rank, cpu);

	if (!err)
		err = take_host(rank, cpu);
	for (size_t i = 0; !err && list && rank->count && i < list->u.array.len; i++) {
		yajl_val operator= list->u.array.values[i];
		int64_t id = json_file_integer(operator, "op_id", -1);
		const struct imported_operator *row =
			rank->import->model->imported_operators.row + rank->first;

		for (uint32_t k = 0; k < rank->count; k++)
			if (row[k].id == id) {
				err = take_operator(rank, rank->first + k,
						    yajl_tree_get(operator, metrics_path,
								  yajl_t_object));
				break;
			}
	}
	return err;
}

/* The instant of a sample: that of the CPU figures if there are as many samples, else one per interval. */
static uint64_t sample_ns(const struct minddata_rank *rank, size_t i, size_t count,
			  uint64_t interval_ns)
{
	uint64_t first_ns = rank->stamp_count ? rank->stamps[0] : 1;

	if (count == rank->stamp_count)
		return rank->stamps[i];
	return first_ns + i * interval_ns;
}

int minddata_take_queues(struct minddata_rank *rank, yajl_val pipeline)
{
	const char *path[] = { "metrics", "output_queue", "size", NULL };
	yajl_val list = json_file_list(pipeline, "op_info");
	int64_t ms = json_file_integer(pipeline, "sampling_interval", 0);
	struct model *model = rank->import->model;
	uint32_t op = rank->first;

	if (ms < 1 || ms > 3600000)
		return import_finding(rank->import,
				      "no sampling_interval: sizes of queues are left out", NULL);
	for (size_t i = 0; i < list->u.array.len; i++) {
		yajl_val operator= list->u.array.values[i];
		yajl_val sizes = yajl_tree_get(operator, path, yajl_t_array);

		if (op == rank->first + rank->count ||
		    model->imported_operators.row[op].id != json_file_integer(operator, "op_id", -1))
			continue;
		for (size_t k = 0; sizes && k < sizes->u.array.len; k++) {
			double size = minddata_number(sizes, k);
			struct imported_size row = {
				.ts_ns = sample_ns(rank, k, sizes->u.array.len, (uint64_t)ms * MS),
				.op = op,
				.size = size > 0 && size < INT32_MAX ? (uint32_t)size : 0,
			};

			if (!MODEL_PUSH(&model->imported_sizes, row))
				return -ENOMEM;
		}
		op++;
	}
	return 0;
}

/* Lines are "type extra batch value time"; the lines of a batch are consecutive. */
struct batch_lines {
	uint64_t number;
	double pipeline_ms;
	double push_ms;
	uint64_t end_ns;
	bool seen;
};

static int add_batch(struct minddata_rank *rank, struct batch_lines *lines, bool sent)
{
	struct imported_batch row = { .end_ns = lines->end_ns,
				      .process = rank->process,
				      .sent = sent };
	uint64_t wait_ns = (uint64_t)(lines->pipeline_ms * 1e6);

	if (!lines->seen || !lines->end_ns)
		return 0;
	row.send_ns = sent ? (uint64_t)(lines->push_ms * 1e6) : 0;
	row.end_ns -= row.send_ns < row.end_ns ? row.send_ns : 0;
	row.start_ns = row.end_ns > wait_ns ? row.end_ns - wait_ns : 0;
	return MODEL_PUSH(&rank->import->model->imported_batches, row) ? 0 : -ENOMEM;
}

static bool take_line(const char *line, struct batch_lines *lines, uint64_t *number)
{
	unsigned int type, extra;
	uint64_t ms;
	double value;

	if (sscanf(line, "%u %u %" SCNu64 " %lf %" SCNu64, &type, &extra, number, &value, &ms) !=
		    5 ||
	    !(value >= 0 && value < VALUE_MAX_MS) || ms > MS_MAX)
		return false;
	if (*number != lines->number)
		return true; /* a line of the next batch: the caller reads it again after this batch */
	lines->seen = true;
	lines->end_ns = ms * MS;
	if (type == 0 && extra == 0)
		lines->pipeline_ms = value;
	else if (type == 0 && extra == 1)
		lines->push_ms = value;
	return true;
}

int minddata_take_batches(struct minddata_rank *rank, const char *name)
{
	bool sent = strncmp(name, "device_queue", 12) == 0;
	struct batch_lines lines = { .number = 0 };
	char line[256];
	uint64_t number;
	FILE *file;
	int err = minddata_open(rank, name, &file);

	while (!err && fgets(line, sizeof(line), file)) {
		if (!take_line(line, &lines, &number)) {
			line[strcspn(line, "\n")] = '\0';
			err = import_finding(rank->import, "a line of batches that cannot be read",
					     line);
			continue;
		}
		if (number == lines.number)
			continue;
		err = add_batch(rank, &lines, sent);
		lines = (struct batch_lines){ .number = number };
		take_line(line, &lines, &number);
	}
	if (!err)
		err = add_batch(rank, &lines, sent);
	return minddata_close(rank, name, file, err);
}
