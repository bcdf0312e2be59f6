/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the model: what device files say in sum. */
#include "analyzer/write/tables/tables.h"

static void put_facts(struct rows *rows, const struct model *model)
{
	rows_table(rows, "device_facts",
		   "device INTEGER, topic TEXT, name TEXT, value REAL, unit TEXT, text TEXT, "
		   "file INTEGER");
	for (uint32_t i = 0; i < model->device_facts.count; i++) {
		const struct device_fact *row = &model->device_facts.row[i];

		rows_index(rows, row->device);
		rows_text(rows, model_text(model, row->topic));
		rows_text(rows, model_text(model, row->name));
		if (row->text)
			rows_null(rows);
		else
			rows_real(rows, row->value);
		rows_text(rows, model_text(model, row->unit));
		rows_text(rows, model_text(model, row->text));
		rows_u64(rows, row->file);
		rows_end(rows);
	}
}

static void put_sums(struct rows *rows, const struct model *model)
{
	rows_table(rows, "operator_sums",
		   "device INTEGER, name TEXT, type TEXT, core TEXT, count INTEGER, "
		   "total_ns INTEGER, min_ns INTEGER, max_ns INTEGER, file INTEGER, "
		   "input_shapes TEXT, self_ns INTEGER, host_ns INTEGER, host_self_ns INTEGER");
	for (uint32_t i = 0; i < model->operator_sums.count; i++) {
		const struct operator_sum *row = &model->operator_sums.row[i];

		rows_index(rows, row->device);
		rows_text(rows, model_text(model, row->name));
		rows_text(rows, model_text(model, row->type));
		rows_text(rows, model_text(model, row->core));
		rows_u64(rows, row->count);
		rows_id(rows, row->total_ns);
		rows_id(rows, row->min_ns);
		rows_id(rows, row->max_ns);
		rows_u64(rows, row->file);
		rows_text(rows, model_text(model, row->shapes));
		rows_id(rows, row->self_ns);
		rows_id(rows, row->host_ns);
		rows_id(rows, row->host_self_ns);
		rows_end(rows);
	}
}

static void put_fused(struct rows *rows, const struct model *model)
{
	rows_table(rows, "fused_operators",
		   "name TEXT, originals TEXT, count INTEGER, model TEXT, model_id INTEGER, "
		   "input_bytes INTEGER, output_bytes INTEGER, weight_bytes INTEGER, "
		   "workspace_bytes INTEGER, total_bytes INTEGER, file INTEGER");
	for (uint32_t i = 0; i < model->fused_operators.count; i++) {
		const struct fused_operator *row = &model->fused_operators.row[i];

		rows_text(rows, model_text(model, row->name));
		rows_text(rows, model_text(model, row->originals));
		rows_u64(rows, row->count);
		rows_text(rows, model_text(model, row->model));
		rows_id(rows, row->model_id);
		rows_id(rows, row->input_bytes);
		rows_id(rows, row->output_bytes);
		rows_id(rows, row->weight_bytes);
		rows_id(rows, row->workspace_bytes);
		rows_id(rows, row->total_bytes);
		rows_u64(rows, row->file);
		rows_end(rows);
	}
}

static void put_advice(struct rows *rows, const struct model *model)
{
	rows_table(rows, "told_advice",
		   "device INTEGER, topic TEXT, part TEXT, advice TEXT, about TEXT, count INTEGER, "
		   "file INTEGER");
	for (uint32_t i = 0; i < model->told_advice.count; i++) {
		const struct told_advice *row = &model->told_advice.row[i];

		rows_index(rows, row->device);
		rows_text(rows, model_text(model, row->topic));
		rows_text(rows, model_text(model, row->part));
		rows_text(rows, model_text(model, row->text));
		rows_text(rows, model_text(model, row->subjects));
		rows_u64(rows, row->count);
		rows_u64(rows, row->file);
		rows_end(rows);
	}
}

static void put_cluster_steps(struct rows *rows, const struct model *model)
{
	rows_table(rows, "cluster_steps",
		   "device INTEGER, number INTEGER, gap_ns INTEGER, computation_ns INTEGER, "
		   "communication_ns INTEGER, stage_ns INTEGER, receive_ns INTEGER, "
		   "collective_ns INTEGER");
	for (uint32_t i = 0; i < model->cluster_steps.count; i++) {
		const struct cluster_step *row = &model->cluster_steps.row[i];

		rows_index(rows, row->device);
		rows_u64(rows, row->number);
		rows_id(rows, row->gap_ns);
		rows_id(rows, row->computation_ns);
		rows_id(rows, row->communication_ns);
		rows_id(rows, row->stage_ns);
		rows_id(rows, row->receive_ns);
		rows_id(rows, row->collective_ns);
		rows_end(rows);
	}
}

void tables_told(struct rows *rows, const struct tables *of)
{
	put_facts(rows, of->model);
	put_sums(rows, of->model);
	put_fused(rows, of->model);
	put_advice(rows, of->model);
	put_cluster_steps(rows, of->model);
}
