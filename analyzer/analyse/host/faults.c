/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/faults.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/map.h"

static int by_total(const void *a, const void *b)
{
	const struct fault_usage *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

static void count(struct fault_usage *usage, const struct major_fault *fault)
{
	usage->count++;
	usage->slept += fault->dur_ns != 0;
	usage->total_ns += fault->dur_ns;
	if (fault->dur_ns > usage->max_ns)
		usage->max_ns = fault->dur_ns;
}

int faults_analyse(const struct model *model, const struct analysis_options *options,
		   struct fault_results *results)
{
	struct analysis_window window = analysis_window(model, options);
	MODEL_ARRAY(struct fault_usage) rows = { 0 };
	struct map index = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < model->faults.count && !err; i++) {
		const struct major_fault *fault = &model->faults.row[i];
		uint32_t process = model->threads.row[fault->thread].process;
		struct fault_usage new = { .process = process, .file = fault->file };
		uint64_t key = (uint64_t)process << 32 | fault->file;
		uint32_t row;

		if (!analysis_has(fault->end_ns, &window) ||
		    !analysis_wants_process(model, options, process))
			continue;
		row = map_get(&index, key);
		if (row == MAP_NONE) {
			row = rows.count;
			if (!map_put(&index, key, row) || !MODEL_PUSH(&rows, new))
				err = -ENOMEM;
		}
		if (!err)
			count(&rows.row[row], fault);
	}
	if (rows.count)
		qsort(rows.row, rows.count, sizeof(*rows.row), by_total);
	results->rows = rows.row;
	results->row_count = err ? 0 : rows.count;
	map_free(&index);
	return err;
}

void faults_free(struct fault_results *results)
{
	free(results->rows);
	*results = (struct fault_results){ 0 };
}
