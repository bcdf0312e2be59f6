/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators on the host's CPUs in the tables of MindSpore's profiler: cpu_op_type_info_N.csv and
 * cpu_op_detail_info_N.csv of each process that ran some.
 *
 * Times are milliseconds, shares fractions of 1. Calls have only the names of operator types, so both tables have one
 * row per type. Numbers of runs are totals, not per step.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export/layouts/mindinsight/mindinsight.h"
#include "analyzer/export/timeline/host_operators.h"

#define MS 1e6

struct type_sum {
	uint32_t name; /* string */
	uint64_t count;
	uint64_t total_ns;
};

/* The operators of one process, most time first. */
struct host_cpu {
	const struct model *model;
	struct type_sum *types;
	uint32_t count;
	uint64_t total_ns;
	uint32_t pid;
};

static int by_total(const void *a, const void *b)
{
	const struct type_sum *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int by_name(const void *a, const void *b)
{
	const struct type_sum *x = a, *y = b;

	return x->name < y->name ? -1 : x->name > y->name;
}

static void add_up(struct host_cpu *of)
{
	uint32_t used = 0;

	if (of->count)
		qsort(of->types, of->count, sizeof(*of->types), by_name);
	for (uint32_t i = 0; i < of->count; i++) {
		of->total_ns += of->types[i].total_ns;
		if (used && of->types[used - 1].name == of->types[i].name) {
			of->types[used - 1].count++;
			of->types[used - 1].total_ns += of->types[i].total_ns;
		} else {
			of->types[used++] = of->types[i];
		}
	}
	of->count = used;
	if (used)
		qsort(of->types, used, sizeof(*of->types), by_total);
}

static double share(const struct host_cpu *of, const struct type_sum *type)
{
	return of->total_ns ? (double)type->total_ns / (double)of->total_ns : 0;
}

static void put_types(FILE *out, const struct host_cpu *of)
{
	fputs("op_type,type_occurrences,execution_frequency(per-step),total_compute_time,"
	      "avg_time(ms),percent\n",
	      out);
	for (uint32_t i = 0; i < of->count; i++) {
		const struct type_sum *type = &of->types[i];

		mindinsight_cell(out, model_text(of->model, type->name));
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%.6f\n", type->count, type->count,
			(double)type->total_ns / MS,
			(double)type->total_ns / MS / (double)type->count, share(of, type));
	}
}

static void put_details(FILE *out, const struct host_cpu *of)
{
	fputs("op_side,op_type,op_name,full_op_name,op_occurrences,op_total_time(ms),"
	      "op_avg_time(ms),total_proportion,subgraph,pid\n",
	      out);
	for (uint32_t i = 0; i < of->count; i++) {
		const struct type_sum *type = &of->types[i];

		fputs("Host,", out);
		for (int column = 0; column < 3; column++) {
			mindinsight_cell(out, model_text(of->model, type->name));
			fputc(',', out);
		}
		fprintf(out, "%" PRIu64 ",%.6f,%.6f,%.6f,Default,%u\n", type->count,
			(double)type->total_ns / MS,
			(double)type->total_ns / MS / (double)type->count, share(of, type),
			of->pid);
	}
}

static int write_table(const char *folder, const char *name, uint32_t number,
		       void (*put)(FILE *out, const struct host_cpu *of), const struct host_cpu *of,
		       char *error, size_t error_size)
{
	char path[PATH_MAX];
	FILE *out = NULL;
	int err = -ENAMETOOLONG;

	if (snprintf(path, sizeof(path), "%s/%s_%u.csv", folder, name, number) <
	    (int)sizeof(path)) {
		out = fopen(path, "w");
		err = out ? 0 : -errno;
	}
	if (out) {
		put(out, of);
		err = ferror(out) ? -EIO : 0;
		if (fclose(out) != 0 && !err)
			err = -errno;
	}
	if (err)
		snprintf(error, error_size, "cannot write %s: %s", path, strerror(-err));
	return err;
}

static int write_process(struct host_cpu *of, const char *folder, uint32_t number, char *error,
			 size_t error_size)
{
	int err;

	add_up(of);
	err = write_table(folder, "cpu_op_type_info", number, put_types, of, error, error_size);
	return err ? err
		   : write_table(folder, "cpu_op_detail_info", number, put_details, of, error,
				 error_size);
}

static bool inside(const struct results *results, const struct call *call)
{
	return call->start_ns >= results->from_ns && call->start_ns < results->to_ns;
}

int mindinsight_write_host_cpu(const struct model *model, const struct results *results,
			       const char *folder, uint32_t first, uint32_t *written, char *error,
			       size_t error_size)
{
	uint32_t count, end, *rows = host_operators(model, NULL, &count);
	struct type_sum *types = calloc((size_t)count + 1, sizeof(*types));
	int err = rows && types ? 0 : -ENOMEM;

	*written = 0;
	if (err)
		snprintf(error, error_size, "cannot write %s: %s", folder, strerror(ENOMEM));
	for (uint32_t i = 0; i < count && !err; i = end) {
		uint32_t process = host_operator_process(model, rows[i]);
		struct host_cpu of = { .model = model, .types = types };

		for (end = i; end < count && host_operator_process(model, rows[end]) == process; end++) {
			const struct call *call = &model->calls.row[rows[end]];

			if (inside(results, call))
				types[of.count++] = (struct type_sum){ call->text, 1,
								       model_call_ns(model, call) };
		}
		of.pid = process < model->processes.count ? model->processes.row[process].pid : 0;
		if (of.count)
			err = write_process(&of, folder, first + (*written)++, error, error_size);
	}
	free(rows);
	free(types);
	return err;
}
