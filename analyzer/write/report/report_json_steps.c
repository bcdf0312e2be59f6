/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of the trainer and of the devices. */
#include <math.h>

#include "analyzer/analyse/device_steps.h"
#include "analyzer/write/report/report_parts.h"

static void write_step(struct json *json, const struct model *model,
		       const struct pipeline *pipeline, const struct step *step)
{
	json_map(json, NULL);
	json_u64(json, "index", step->index);
	json_u64(json, "start_ns", step->start_ns);
	json_u64(json, "duration_ns", step->duration_ns);
	json_u64(json, "data_wait_ns", step->data_wait_ns);
	json_u64(json, "host_ns", step->duration_ns - step->data_wait_ns);
	if (step->op != INDEX_NONE)
		json_text(json, "bounded_by",
			  model_text(model, pipeline->operators.row[step->op].name));
	json_map_close(json);
}

static void write_times(struct json *json, const struct device_step_row *row)
{
	json_u64(json, "index", row->number);
	json_u64(json, "start_ns", row->start_ns);
	json_u64(json, "duration_ns", row->end_ns - row->start_ns);
	if (!row->first)
		json_i64(json, "iteration_interval_ns", row->gap_ns);
	if (row->bp_end_ns) {
		json_i64(json, "fp_bp_ns", row->fp_bp_ns);
		json_i64(json, "tail_ns", row->tail_ns);
	}
	json_u64(json, "device_busy_ns", row->busy_ns);
	json_u64(json, "device_idle_ns", row->end_ns - row->start_ns - row->busy_ns);
}

static void write_device_row(struct json *json, const struct device_step_trace *trace,
			     const struct device_step_row *row)
{
	json_map(json, NULL);
	write_times(json, row);
	json_u64(json, "fp_start_ns", row->fp_start_ns);
	if (row->bp_end_ns)
		json_u64(json, "bp_end_ns", row->bp_end_ns);
	json_array(json, "all_reduce");
	for (uint32_t i = 0; i < row->reduce_count; i++) {
		const struct step_reduce *reduce = &trace->reduces[row->first_reduce + i];

		json_map(json, NULL);
		if (reduce->stream != MODEL_ID_NONE)
			json_u64(json, "stream", reduce->stream);
		json_u64(json, "count", reduce->count);
		json_u64(json, "start_ns", reduce->start_ns);
		json_u64(json, "duration_ns", reduce->end_ns - reduce->start_ns);
		json_u64(json, "total_ns", reduce->total_ns);
		json_map_close(json);
	}
	json_array_close(json);
	json_map_close(json);
}

static void write_mean(struct json *json, const struct device_step_trace *trace)
{
	const struct device_step_means *means = &trace->means;

	if (!means->steps)
		return;
	json_map(json, "mean");
	json_u64(json, "steps", means->steps);
	json_i64(json, "duration_ns", llround(means->duration_ns));
	if (!trace->rows[0].first || trace->count > 1)
		json_i64(json, "iteration_interval_ns", llround(means->gap_ns));
	if (means->bp_steps) {
		json_i64(json, "fp_bp_ns", llround(means->fp_bp_ns));
		json_i64(json, "tail_ns", llround(means->tail_ns));
	}
	json_i64(json, "device_busy_ns", llround(means->busy_ns));
	json_array(json, "all_reduce");
	for (uint32_t i = 0; i < trace->mean_reduce_count; i++) {
		const struct step_reduce *reduce = &trace->mean_reduces[i];

		json_map(json, NULL);
		if (reduce->stream != MODEL_ID_NONE)
			json_u64(json, "stream", reduce->stream);
		json_decimal(json, "count", (double)reduce->count / means->steps);
		json_i64(json, "total_ns", llround((double)reduce->total_ns / means->steps));
		json_map_close(json);
	}
	json_array_close(json);
	json_map_close(json);
}

static void write_source(struct json *json, const struct device_step_trace *trace)
{
	json_text(json, "source", step_source_name(trace->source));
	json_decimal(json, "confidence_percent", trace->confidence);
}

static void write_device(struct json *json, const struct model *model,
			 const struct device_step_trace *trace)
{
	json_map(json, NULL);
	json_u64(json, "device", model->devices.row[trace->device].id);
	write_source(json, trace);
	json_text(json, "known_from", step_source_text(trace->source));
	if (trace->fp_name)
		json_text(json, "fp_point", model_text(model, trace->fp_name));
	write_mean(json, trace);
	json_array(json, "rows");
	for (uint32_t i = 0; i < trace->count; i++)
		write_device_row(json, trace, &trace->rows[i]);
	json_array_close(json);
	json_map_close(json);
}

static void write_trainer(struct json *json, const struct model *model,
			  const struct pipeline_steps *of)
{
	json_text(json, "source", "marker");
	json_u64(json, "confidence_percent", 100);
	json_text(json, "framework", of->usage->pipeline->framework);
	json_u64(json, "pid", model->processes.row[of->usage->pipeline->process].pid);
	json_array(json, "rows");
	for (uint32_t i = 0; i < of->count; i++)
		write_step(json, model, of->usage->pipeline, &of->rows[i]);
	json_array_close(json);
}

static void write_main(struct json *json, const struct device_step_trace *trace)
{
	write_source(json, trace);
	json_array(json, "rows");
	for (uint32_t i = 0; i < trace->count; i++) {
		json_map(json, NULL);
		write_times(json, &trace->rows[i]);
		json_map_close(json);
	}
	json_array_close(json);
}

void json_steps_section(struct json *json, const struct model *model, const struct results *results)
{
	const struct step_results *steps = results->steps;
	const struct device_step_results *devices = results->device_steps;
	bool trainer = steps && steps->main != INDEX_NONE;
	bool device = devices && devices->main != INDEX_NONE;

	if (!trainer && !device)
		return;
	json_map(json, "steps");
	if (trainer)
		write_trainer(json, model, &steps->pipelines[steps->main]);
	else
		write_main(json, &devices->traces[devices->main]);
	json_array(json, "devices");
	for (uint32_t i = 0; devices && i < devices->count; i++)
		write_device(json, model, &devices->traces[i]);
	json_array_close(json);
	json_map_close(json);
}
