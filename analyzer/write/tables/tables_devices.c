/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the report: what devices did, and why they were idle. */
#include "analyzer/analyse/results.h"
#include "analyzer/write/tables/tables.h"
#include "analyzer/write/tables/tables_roots.h"

static void put_usage(struct rows *rows, const struct device_results *devices)
{
	rows_table(rows, "device_usage",
		   "device INTEGER, tasks INTEGER, tasks_untimed INTEGER, tasks_sync INTEGER, "
		   "start_ns INTEGER, window_ns INTEGER, busy_ns INTEGER, idle_ns INTEGER, "
		   "gaps INTEGER, compute_ns INTEGER, communication_ns INTEGER, "
		   "communication_not_overlapped_ns INTEGER, copy_ns INTEGER, free_ns INTEGER");
	for (uint32_t i = 0; i < devices->device_count; i++) {
		const struct device_usage *row = &devices->devices[i];
		bool known = row->window_ns > 0;

		rows_u64(rows, row->device);
		rows_u64(rows, row->tasks);
		rows_u64(rows, row->untimed);
		rows_u64(rows, row->sync_tasks);
		rows_known(rows, known, row->window_start_ns);
		rows_known(rows, known, row->window_ns);
		rows_known(rows, known, row->busy_ns);
		rows_known(rows, known, row->idle_ns);
		rows_known(rows, known, row->gap_count);
		rows_known(rows, known, row->compute_ns);
		rows_known(rows, known, row->communication_ns);
		rows_known(rows, known, row->communication_not_overlapped_ns);
		rows_known(rows, known, row->copy_ns);
		rows_known(rows, row->has_free, row->free_ns);
		rows_end(rows);
	}
}

static void put_streams(struct rows *rows, const struct device_results *devices)
{
	rows_table(rows, "streams",
		   "device INTEGER, stream INTEGER, tasks INTEGER, busy_ns INTEGER, "
		   "first_start_ns INTEGER, last_end_ns INTEGER");
	for (uint32_t i = 0; i < devices->device_count; i++) {
		for (uint32_t k = 0; k < devices->devices[i].stream_count; k++) {
			const struct stream_usage *row = &devices->devices[i].streams[k];

			rows_u64(rows, i);
			rows_id(rows, row->id);
			rows_u64(rows, row->tasks);
			rows_u64(rows, row->busy_ns);
			rows_known(rows, row->last_end_ns, row->first_start_ns);
			rows_known(rows, row->last_end_ns, row->last_end_ns);
			rows_end(rows);
		}
	}
}

static void put_rate(struct rows *rows, bool known, double value)
{
	if (known)
		rows_real(rows, value);
	else
		rows_null(rows);
}

static void put_figures(struct rows *rows, const struct tables *of,
			const struct operator_usage *row)
{
	const struct operator_figures *figures = &row->figures;
	const uint32_t *const texts[] = { &figures->input_shapes, &figures->input_types,
					  &figures->output_shapes, &figures->output_types };
	double value = 0;
	bool known;

	put_rate(rows, figures->counted, figures->flops);
	known = operator_flops_rate(figures, &value);
	put_rate(rows, known, value);
	known = operator_flops_percent(of->model, row->device, figures, &value);
	put_rate(rows, known, value);
	put_rate(rows, figures->moved, figures->moved_bytes);
	known = operator_bandwidth(figures, &value);
	put_rate(rows, known, value);
	known = operator_bandwidth_percent(of->model, row->device, figures, &value);
	put_rate(rows, known, value);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (*texts[i] && *texts[i] != OPERATOR_SEVERAL)
			rows_text(rows, model_text(of->model, *texts[i]));
		else
			rows_null(rows);
	}
	rows_known(rows, figures->detailed, figures->variants);
}

static void put_operators(struct rows *rows, const struct tables *of, const char *name,
			  const struct operator_list *list)
{
	rows_table(rows, name,
		   "device INTEGER, name TEXT, type TEXT, core TEXT, count INTEGER, "
		   "total_ns INTEGER, min_ns INTEGER, max_ns INTEGER, percent REAL, flops REAL, "
		   "flops_per_second REAL, flops_percent REAL, bytes REAL, bytes_per_second REAL, "
		   "bandwidth_percent REAL, input_shapes TEXT, input_types TEXT, "
		   "output_shapes TEXT, output_types TEXT, shape_variants INTEGER");
	for (uint32_t i = 0; i < list->count; i++) {
		const struct operator_usage *row = &list->rows[i];

		rows_u64(rows, row->device);
		rows_text(rows, model_text(of->model, row->name));
		rows_text(rows, operator_type(of->model, row));
		rows_text(rows, operator_core_name(row->core));
		rows_u64(rows, row->count);
		rows_u64(rows, row->total_ns);
		rows_u64(rows, row->min_ns);
		rows_u64(rows, row->max_ns);
		rows_real(rows, row->percent);
		put_figures(rows, of, row);
		rows_end(rows);
	}
}

/* Rows of "operators" by their number. */
static void put_metrics(struct rows *rows, const struct tables *of,
			const struct operator_list *list)
{
	rows_table(rows, "operator_metrics",
		   "operator INTEGER, metric TEXT, tasks INTEGER, mean REAL");
	for (uint32_t i = 0; i < list->count; i++) {
		const struct operator_figures *figures = &list->rows[i].figures;

		for (uint32_t k = 0; k < figures->metric_count; k++) {
			const struct operator_metric *row =
				&list->metrics.row[figures->first_metric + k];

			if (!row->tasks)
				continue;
			rows_u64(rows, i);
			rows_text(rows, model_text(of->model, row->name));
			rows_u64(rows, row->tasks);
			rows_real(rows, row->mean);
			rows_end(rows);
		}
	}
}

/* "stream" is NULL in rows of whole devices, and where the file puts tasks on none. */
static void put_overlap_row(struct rows *rows, const struct overlap_usage *row, bool whole)
{
	rows_u64(rows, row->device);
	rows_u64(rows, whole);
	rows_id(rows, row->stream);
	rows_u64(rows, row->computation_ns);
	rows_u64(rows, row->communication_ns);
	rows_u64(rows, row->overlapped_ns);
	rows_u64(rows, row->pure_communication_ns);
	rows_u64(rows, row->receive_ns);
	rows_u64(rows, row->free_ns);
	rows_u64(rows, row->copy_ns);
	rows_u64(rows, row->pure_copy_ns);
	rows_end(rows);
}

static void put_overlap(struct rows *rows, const struct overlap_results *overlap)
{
	rows_table(rows, "overlap",
		   "device INTEGER, whole_device INTEGER, stream INTEGER, computation_ns INTEGER, "
		   "communication_ns INTEGER, overlapped_ns INTEGER, "
		   "pure_communication_ns INTEGER, receive_ns INTEGER, free_ns INTEGER, "
		   "copy_ns INTEGER, pure_copy_ns INTEGER");
	for (uint32_t i = 0; i < overlap->count; i++) {
		put_overlap_row(rows, &overlap->devices[i].all, true);
		for (uint32_t k = 0; k < overlap->devices[i].stream_count; k++)
			put_overlap_row(rows, &overlap->devices[i].streams[k], false);
	}
}

static void put_causes(struct rows *rows, const struct tables *of, const struct idle_result *idle)
{
	rows_table(rows, "idle_causes",
		   "cause TEXT, who TEXT, ns INTEGER, percent REAL, gaps INTEGER, thread INTEGER, "
		   "detail TEXT");
	for (uint32_t i = 0; i < idle->total_count; i++) {
		const struct idle_total *row = &idle->totals[i];

		rows_text(rows, idle_cause_name(row->cause));
		rows_text(rows, model_text(of->model, row->who));
		rows_u64(rows, row->ns);
		rows_real(rows, row->percent);
		rows_u64(rows, row->gaps);
		rows_index(rows, row->thread);
		rows_text(rows, model_text(of->model, row->detail));
		rows_end(rows);
	}
}

static void put_gaps(struct rows *rows, const struct idle_result *idle)
{
	rows_table(rows, "idle_gaps",
		   "gap INTEGER, device INTEGER, start_ns INTEGER, end_ns INTEGER, "
		   "task_before INTEGER, task_after INTEGER");
	for (uint32_t i = 0; i < idle->gap_count; i++) {
		const struct device_gap *row = &idle->gaps[i].gap;

		rows_u64(rows, i);
		rows_u64(rows, row->device);
		rows_u64(rows, row->start_ns);
		rows_u64(rows, row->end_ns);
		rows_index(rows, row->before);
		rows_index(rows, row->after);
		rows_end(rows);
	}
}

static void put_parts(struct rows *rows, const struct tables *of, const struct idle_result *idle)
{
	rows_table(rows, "idle_parts",
		   "gap INTEGER, start_ns INTEGER, end_ns INTEGER, cause TEXT, who TEXT, "
		   "thread INTEGER, detail TEXT");
	for (uint32_t i = 0; i < idle->gap_count; i++) {
		for (uint32_t k = 0; k < idle->gaps[i].part_count; k++) {
			const struct idle_part *row = &idle->gaps[i].parts[k];

			rows_u64(rows, i);
			rows_u64(rows, row->start_ns);
			rows_u64(rows, row->end_ns);
			rows_text(rows, idle_cause_name(row->cause));
			rows_text(rows, model_text(of->model, row->who));
			rows_index(rows, row->thread);
			rows_text(rows, model_text(of->model, row->detail));
			rows_end(rows);
		}
	}
}

void tables_devices(struct rows *rows, const struct tables *of)
{
	const struct device_results *devices = of->results->devices;

	if (!devices)
		return;
	put_usage(rows, devices);
	put_streams(rows, devices);
	put_operators(rows, of, "operators", &devices->operators);
	put_operators(rows, of, "operator_types", &devices->types);
	put_operators(rows, of, "operator_cores", &devices->cores);
	put_metrics(rows, of, &devices->operators);
	put_overlap(rows, &devices->overlap);
	put_causes(rows, of, &devices->idle);
	tables_roots(rows, of->model, devices->idle.roots);
	put_gaps(rows, &devices->idle);
	put_parts(rows, of, &devices->idle);
}
