/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the report: steps, pipelines, communication. */
#include <math.h>

#include "analyzer/analyse/cluster.h"
#include "analyzer/analyse/device_steps.h"
#include "analyzer/analyse/operator_steps.h"
#include "analyzer/analyse/pipelines.h"
#include "analyzer/analyse/results.h"
#include "analyzer/write/tables/tables.h"

static void known_signed(struct rows *rows, bool known, int64_t value)
{
	if (known)
		rows_i64(rows, value);
	else
		rows_null(rows);
}

static void put_step(struct rows *rows, const struct device_step_trace *trace,
		     const struct device_step_row *row)
{
	rows_u64(rows, trace->device);
	rows_text(rows, step_source_name(trace->source));
	rows_u64(rows, row->number);
	rows_u64(rows, row->start_ns);
	rows_u64(rows, row->fp_start_ns);
	rows_known(rows, row->bp_end_ns, row->bp_end_ns);
	rows_u64(rows, row->end_ns);
	known_signed(rows, !row->first, row->gap_ns);
	known_signed(rows, row->bp_end_ns, row->fp_bp_ns);
	known_signed(rows, row->bp_end_ns, row->tail_ns);
	rows_u64(rows, row->busy_ns);
	rows_end(rows);
}

static void put_device_steps(struct rows *rows, const struct device_step_results *steps)
{
	rows_table(rows, "device_steps",
		   "device INTEGER, source TEXT, step INTEGER, start_ns INTEGER, "
		   "fp_start_ns INTEGER, bp_end_ns INTEGER, end_ns INTEGER, "
		   "iteration_interval_ns INTEGER, fp_bp_ns INTEGER, tail_ns INTEGER, "
		   "device_busy_ns INTEGER");
	for (uint32_t i = 0; i < steps->count; i++) {
		for (uint32_t k = 0; k < steps->traces[i].count; k++)
			put_step(rows, &steps->traces[i], &steps->traces[i].rows[k]);
	}
}

static void put_reduce(struct rows *rows, const struct device_step_trace *trace,
		       const struct device_step_row *row)
{
	for (uint32_t i = 0; i < row->reduce_count; i++) {
		const struct step_reduce *reduce = &trace->reduces[row->first_reduce + i];

		rows_u64(rows, trace->device);
		rows_u64(rows, row->number);
		rows_id(rows, reduce->stream);
		rows_u64(rows, reduce->count);
		rows_u64(rows, reduce->start_ns);
		rows_u64(rows, reduce->end_ns);
		rows_u64(rows, reduce->total_ns);
		rows_end(rows);
	}
}

static void put_reduces(struct rows *rows, const struct device_step_results *steps)
{
	rows_table(rows, "device_step_reduces",
		   "device INTEGER, step INTEGER, stream INTEGER, count INTEGER, start_ns INTEGER, "
		   "end_ns INTEGER, total_ns INTEGER");
	for (uint32_t i = 0; i < steps->count; i++) {
		for (uint32_t k = 0; k < steps->traces[i].count; k++)
			put_reduce(rows, &steps->traces[i], &steps->traces[i].rows[k]);
	}
}

static void put_trainer_steps(struct rows *rows, const struct tables *of)
{
	const struct step_results *steps = of->results->steps;

	rows_table(rows, "steps",
		   "pid INTEGER, framework TEXT, step INTEGER, start_ns INTEGER, "
		   "duration_ns INTEGER, data_wait_ns INTEGER, bounded_by TEXT");
	for (uint32_t i = 0; steps && i < steps->count; i++) {
		const struct pipeline_steps *trainer = &steps->pipelines[i];
		const struct pipeline *pipeline = trainer->usage->pipeline;

		for (uint32_t k = 0; k < trainer->count; k++) {
			const struct step *row = &trainer->rows[k];

			rows_u64(rows, of->model->processes.row[pipeline->process].pid);
			rows_text(rows, pipeline->framework);
			rows_u64(rows, row->index);
			rows_u64(rows, row->start_ns);
			rows_u64(rows, row->duration_ns);
			rows_u64(rows, row->data_wait_ns);
			rows_text(rows,
				  row->op == INDEX_NONE
					  ? NULL
					  : model_text(of->model,
						       pipeline->operators.row[row->op].name));
			rows_end(rows);
		}
	}
}

static void put_operator(struct rows *rows, const struct tables *of,
			 const struct pipeline_usage *usage, uint32_t index)
{
	const struct pipeline_operator *op = &usage->pipeline->operators.row[index];
	const struct operator_pipeline_usage *row = &usage->operators[index];

	rows_u64(rows, of->model->processes.row[usage->pipeline->process].pid);
	rows_text(rows, usage->pipeline->framework);
	rows_i64(rows, op->id);
	rows_text(rows, model_text(of->model, op->name));
	rows_text(rows, model_text(of->model, op->type));
	rows_known(rows, op->workers, op->workers);
	if (row->has_times)
		rows_real(rows, row->utilization);
	else
		rows_null(rows);
	rows_known(rows, row->has_times, row->run_ns);
	rows_known(rows, row->has_times, row->runnable_ns);
	rows_known(rows, row->has_times, row->blocked_ns);
	rows_known(rows, row->has_elements, row->elements);
	rows_u64(rows, row->input_wait_ns);
	rows_u64(rows, row->output_wait_ns);
	rows_end(rows);
}

static void put_pipelines(struct rows *rows, const struct tables *of)
{
	const struct pipeline_results *pipelines = of->results->pipelines;

	rows_table(
		rows, "pipeline_operators",
		"pid INTEGER, framework TEXT, id INTEGER, name TEXT, type TEXT, workers INTEGER, "
		"utilization_percent REAL, run_ns INTEGER, runnable_ns INTEGER, "
		"blocked_ns INTEGER, elements INTEGER, input_wait_ns INTEGER, "
		"output_wait_ns INTEGER");
	for (uint32_t i = 0; pipelines && i < pipelines->count; i++) {
		for (uint32_t k = 0; k < pipelines->rows[i].pipeline->operators.count; k++)
			put_operator(rows, of, &pipelines->rows[i], k);
	}
}

static void put_operations(struct rows *rows, const struct tables *of)
{
	const struct communication_results *results = &of->results->devices->communication;
	char name[256];

	rows_table(rows, "communication",
		   "device INTEGER, name TEXT, count INTEGER, total_ns INTEGER, min_ns INTEGER, "
		   "max_ns INTEGER, timed INTEGER, transit_ns INTEGER, wait_ns INTEGER, "
		   "synchronization_ns INTEGER, idle_ns INTEGER");
	for (uint32_t i = 0; i < results->operation_count; i++) {
		const struct communication_usage *row = &results->operations[i];

		rows_u64(rows, row->device);
		rows_text(rows,
			  communication_name(model_text(of->model, row->name), name, sizeof(name)));
		rows_u64(rows, row->count);
		rows_u64(rows, row->total_ns);
		rows_u64(rows, row->min_ns);
		rows_u64(rows, row->max_ns);
		rows_u64(rows, row->timed);
		rows_known(rows, row->timed, row->transit_ns);
		rows_known(rows, row->timed, row->wait_ns);
		rows_known(rows, row->timed, row->synchronization_ns);
		rows_known(rows, row->timed, row->idle_ns);
		rows_end(rows);
	}
}

static void put_links(struct rows *rows, const struct tables *of)
{
	const struct communication_results *results = &of->results->devices->communication;

	rows_table(rows, "links",
		   "device INTEGER, source INTEGER, destination INTEGER, transport TEXT, "
		   "transfers INTEGER, bytes INTEGER, transit_ns INTEGER, waits INTEGER, "
		   "wait_ns INTEGER");
	for (uint32_t i = 0; i < results->link_count; i++) {
		const struct link_usage *row = &results->links[i];

		rows_u64(rows, row->device);
		rows_index(rows, row->source);
		rows_index(rows, row->destination);
		rows_text(rows, model_text(of->model, row->transport));
		rows_u64(rows, row->transfers);
		rows_u64(rows, row->bytes);
		rows_u64(rows, row->transit_ns);
		rows_u64(rows, row->waits);
		rows_u64(rows, row->wait_ns);
		rows_end(rows);
	}
}

static void put_ranks(struct rows *rows, const struct tables *of)
{
	const struct communication_results *results = &of->results->devices->communication;

	rows_table(rows, "collectives",
		   "name TEXT, ranks INTEGER, start_ns INTEGER, duration_ns INTEGER, "
		   "skew_ns INTEGER, straggler INTEGER");
	for (uint32_t i = 0; i < results->skew_count; i++) {
		const struct collective_skew *row = &results->skews[i];

		rows_text(rows, model_text(of->model, row->name));
		rows_u64(rows, row->ranks);
		rows_u64(rows, row->start_ns);
		rows_u64(rows, row->duration_ns);
		rows_u64(rows, row->skew_ns);
		rows_u64(rows, row->straggler);
		rows_end(rows);
	}
	rows_table(rows, "ranks",
		   "device INTEGER, collectives INTEGER, last INTEGER, late_ns INTEGER, "
		   "wait_ns INTEGER");
	for (uint32_t i = 0; i < results->rank_count; i++) {
		const struct rank_usage *row = &results->ranks[i];

		rows_u64(rows, row->device);
		rows_u64(rows, row->collectives);
		rows_u64(rows, row->last);
		rows_u64(rows, row->late_ns);
		rows_u64(rows, row->wait_ns);
		rows_end(rows);
	}
}

static void put_shapes(struct rows *rows, const struct tables *of, uint32_t shapes)
{
	if (shapes && shapes != OPERATOR_SEVERAL)
		rows_text(rows, model_text(of->model, shapes));
	else
		rows_null(rows);
}

/* "name" is NULL in rows of types. */
static void put_operator_steps(struct rows *rows, const struct tables *of)
{
	const struct operator_step_results *results = of->results->operator_steps;

	rows_table(rows, "operator_steps",
		   "device INTEGER, name TEXT, type TEXT, core TEXT, step INTEGER, count INTEGER, "
		   "total_ns INTEGER, max_ns INTEGER, input_shapes TEXT, output_shapes TEXT");
	for (uint32_t i = 0; i < results->count; i++) {
		const struct operator_series *series = &results->series[i];

		for (uint32_t k = 0; k < series->count; k++) {
			const struct operator_step *row = &results->steps[series->first + k];

			rows_u64(rows, series->device);
			if (series->of_type)
				rows_null(rows);
			else
				rows_text(rows, model_text(of->model, series->name));
			rows_text(rows, series->type ? model_text(of->model, series->type) :
						       task_kind_name(series->kind));
			rows_text(rows, operator_core_name(series->core));
			rows_u64(rows, row->step);
			rows_u64(rows, row->count);
			rows_u64(rows, row->total_ns);
			rows_u64(rows, row->max_ns);
			put_shapes(rows, of, row->input_shapes);
			put_shapes(rows, of, row->output_shapes);
			rows_end(rows);
		}
	}
}

static void put_parts(struct rows *rows, const struct cluster_parts *parts)
{
	rows_u64(rows, parts->work_ns);
	rows_real(rows, parts->work_percent);
	rows_u64(rows, parts->computation_ns);
	rows_u64(rows, parts->receive_ns);
	rows_u64(rows, parts->collective_ns);
	rows_id(rows, parts->free_ns);
}

static void put_cluster(struct rows *rows, const struct cluster_results *results)
{
	rows_table(rows, "cluster_ranks",
		   "device INTEGER, stage_ns INTEGER, work_ns INTEGER, work_percent REAL, "
		   "computation_ns INTEGER, receive_ns INTEGER, collective_ns INTEGER, "
		   "free_ns INTEGER, step_ns REAL, gap_ns REAL");
	for (uint32_t i = 0; i < results->count; i++) {
		const struct cluster_rank *row = &results->ranks[i];

		rows_u64(rows, row->device);
		rows_u64(rows, row->stage_ns);
		put_parts(rows, &row->parts);
		rows_real(rows, row->has_steps ? row->step_ns : NAN);
		rows_real(rows, row->has_steps ? row->gap_ns : NAN);
		rows_end(rows);
	}
	rows_table(rows, "cluster_stages",
		   "stage INTEGER, ranks INTEGER, work_ns INTEGER, work_percent REAL, "
		   "computation_ns INTEGER, receive_ns INTEGER, collective_ns INTEGER, "
		   "free_ns INTEGER, slowest INTEGER, imbalance_percent REAL");
	for (uint32_t i = 0; i < results->stage_count; i++) {
		const struct cluster_stage *row = &results->stages[i];

		rows_u64(rows, row->stage);
		rows_u64(rows, row->ranks);
		put_parts(rows, &row->parts);
		rows_u64(rows, results->ranks[row->slowest].device);
		rows_real(rows, row->imbalance);
		rows_end(rows);
	}
	rows_table(rows, "cluster_findings", "rule TEXT, device INTEGER, value REAL, mean REAL");
	for (uint32_t i = 0; i < results->finding_count; i++) {
		const struct cluster_finding *row = &results->findings[i];

		rows_text(rows, cluster_rule_name(row->rule));
		rows_u64(rows, row->device);
		rows_real(rows, row->value);
		rows_real(rows, row->mean);
		rows_end(rows);
	}
}

void tables_steps(struct rows *rows, const struct tables *of)
{
	put_trainer_steps(rows, of);
	put_pipelines(rows, of);
	if (of->results->device_steps) {
		put_device_steps(rows, of->results->device_steps);
		put_reduces(rows, of->results->device_steps);
	}
	if (of->results->cluster)
		put_cluster(rows, of->results->cluster);
	if (of->results->operator_steps)
		put_operator_steps(rows, of);
	if (of->results->devices) {
		put_operations(rows, of);
		put_links(rows, of);
		put_ranks(rows, of);
	}
}
