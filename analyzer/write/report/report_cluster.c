/* SPDX-License-Identifier: Apache-2.0 */
/* Section "cluster": several ranks side by side, and what MindInsight's rules find. */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/analyse/cluster.h"
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

static void put_parts(struct table *table, const struct cluster_parts *parts)
{
	table_ms(table, parts->work_ns);
	table_percent(table, parts->work_percent);
	table_ms(table, parts->computation_ns);
	table_ms(table, parts->receive_ns);
	table_ms(table, parts->collective_ns);
	table_ms_if(table, parts->free_ns != UINT64_MAX, parts->free_ns);
}

static int print_ranks(FILE *out, const struct model *model, const struct cluster_results *of,
		       const struct report_options *options)
{
	static const char *const COLUMNS[] = {
		"device",	   "stage ms", "work ms",  "% of mean",	   "computation ms",
		"receive ms",	   "other communication ms", "free ms", "step ms", "gap ms",
	};
	uint32_t shown = rows_shown(options, of->count);
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(COLUMNS) / sizeof(COLUMNS[0]); i++)
		table_column(table, COLUMNS[i], TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++) {
		const struct cluster_rank *row = &of->ranks[i];

		table_row(table);
		text_device_cell(table, model, row->device);
		table_ms(table, row->stage_ns);
		put_parts(table, &row->parts);
		if (row->has_steps) {
			table_ms(table, (uint64_t)row->step_ns);
			table_ms(table, row->gap_ns > 0 ? (uint64_t)row->gap_ns : 0);
		} else {
			table_unknown(table);
			table_unknown(table);
		}
	}
	err = table_print(table, out);
	text_more(out, "devices", of->count, shown);
	table_free(table);
	return err;
}

static int print_stages(FILE *out, const struct model *model, const struct cluster_results *of,
			const struct report_options *options)
{
	static const char *const COLUMNS[] = { "stage",
					       "ranks",
					       "work ms",
					       "% of mean",
					       "computation ms",
					       "receive ms",
					       "other communication ms",
					       "free ms",
					       "slowest device",
					       "above its stage %" };
	const struct cluster_stage *slowest = &of->stages[of->slowest_stage];
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(COLUMNS) / sizeof(COLUMNS[0]); i++)
		table_column(table, COLUMNS[i], TABLE_RIGHT);
	for (uint32_t i = 0; i < of->stage_count; i++) {
		const struct cluster_stage *row = &of->stages[i];

		table_row(table);
		table_count(table, row->stage);
		table_count(table, row->ranks);
		put_parts(table, &row->parts);
		text_device_cell(table, model, of->ranks[row->slowest].device);
		table_percent(table, row->imbalance);
	}
	fputs("\nBy stage of the pipeline (means of its ranks):\n", out);
	err = table_print(table, out);
	table_free(table);
	if (!err && of->stage_count > 1)
		fprintf(out, "Stage %u has most work, %.1f %% more than the mean of the stages.\n",
			slowest->stage, slowest->parts.work_percent - 100);
	return err;
}

static void print_link(FILE *out, const struct model *model, const struct link_usage *link)
{
	const char *transport = model_text(model, link->transport);

	fprintf(out, "its %s link", *transport ? transport : "communication");
	if (link->source != INDEX_NONE && link->destination != INDEX_NONE)
		fprintf(out, " from rank %u to %u", link->source, link->destination);
}

/* How a finding against the mean reads: "<says> <value / unit> <unit>, N % of the mean<advice>". */
static const struct against_mean {
	const char *says;
	double per_unit;
	const char *unit;
	const char *advice;
} AGAINST_MEAN[CLUSTER_RULES] = {
	[CLUSTER_WORK] = { "its work takes", 1e6, "ms",
			   "; give it less of the model, or look for what slows it down" },
	[CLUSTER_COMPUTATION] = { "it computes for", 1e6, "ms",
				  "; others wait for it in collectives" },
	[CLUSTER_GAP] = { "it waits", 1e6, "ms before each step",
			  "; look at its data pipeline and its host" },
	[CLUSTER_FLOPS] = { "it computes", 1e9, "GFLOP/s", "; is it throttled?" },
	[CLUSTER_LINK] = { " moves", 1e9, "GB/s", " of such links" },
};

static void print_finding(FILE *out, const struct model *model, const struct results *results,
			  const struct cluster_finding *row)
{
	const struct against_mean *words = &AGAINST_MEAN[row->rule];
	const struct device *device = &model->devices.row[row->device];

	fprintf(out, "Device %u", device->id);
	if (device->has_rank)
		fprintf(out, " (rank %u)", device->rank);
	fputs(": ", out);
	if (row->rule == CLUSTER_LINK)
		print_link(out, model, &results->devices->communication.links[row->link]);
	if (words->says)
		fprintf(out, "%s %.3f %s, %.0f %% of the mean%s\n", words->says,
			row->value / words->per_unit, words->unit, 100 * row->value / row->mean,
			words->advice);
	else if (row->rule == CLUSTER_RECEIVE)
		fprintf(out,
			"%.1f %% of its time it only waits to receive from another pipeline stage; "
			"balance the stages, or use more micro-batches\n",
			row->value);
	else
		fprintf(out,
			"%.1f %% of its time it only communicates; let communication run beside "
			"computation, or communicate less\n",
			row->value);
}

int text_cluster(FILE *out, const struct model *model, const struct results *results,
		 const struct report_options *options)
{
	const struct cluster_results *of = results->cluster;
	uint32_t shown = rows_shown(options, of->finding_count);
	int err;

	if (!of->count)
		return 0;
	print_heading(out, options, "Devices side by side (work: without waiting to receive)");
	err = print_ranks(out, model, of, options);
	if (err)
		return err;
	for (uint32_t i = 0, said = 0; i < of->count && !said; i++) {
		if (of->ranks[i].told)
			said = fputs("Without tasks: means of steps as a file has them; idle time is in their "
				     "computation.\n",
				     out) >= 0;
	}
	fprintf(out, "The mean of their work is %.3f ms; device %u has most, %.1f %% more.\n",
		(double)of->mean_work_ns / 1e6,
		model->devices.row[of->ranks[of->slowest].device].id, of->imbalance);
	if (of->stage_count)
		err = print_stages(out, model, of, options);
	if (err)
		return err;
	for (uint32_t i = 0; i < shown; i++)
		print_finding(out, model, results, &of->findings[i]);
	text_more(out, "findings", of->finding_count, shown);
	return 0;
}

static void write_device(struct json *json, const struct model *model, uint32_t index)
{
	const struct device *device = &model->devices.row[index];

	json_u64(json, "device", device->id);
	if (device->has_rank)
		json_u64(json, "rank", device->rank);
	if (device->stages)
		json_u64(json, "pipeline_stage", device->stage);
}

static void write_parts(struct json *json, const struct cluster_parts *parts)
{
	json_u64(json, "work_ns", parts->work_ns);
	json_decimal(json, "work_percent", parts->work_percent);
	json_u64(json, "computation_ns", parts->computation_ns);
	json_u64(json, "receive_ns", parts->receive_ns);
	json_u64(json, "collective_ns", parts->collective_ns);
	if (parts->free_ns != UINT64_MAX)
		json_u64(json, "free_ns", parts->free_ns);
}

static void write_rank(struct json *json, const struct model *model, const struct cluster_rank *row)
{
	json_map(json, NULL);
	write_device(json, model, row->device);
	json_u64(json, "stage_ns", row->stage_ns);
	write_parts(json, &row->parts);
	if (row->told)
		json_bool(json, "told", true);
	if (row->has_steps) {
		json_i64(json, "step_ns", (int64_t)row->step_ns);
		json_i64(json, "iteration_interval_ns", (int64_t)row->gap_ns);
	}
	if (row->flops_rate >= 0)
		json_decimal(json, "flops_per_second", row->flops_rate);
	json_map_close(json);
}

static void write_stage(struct json *json, const struct model *model,
			const struct cluster_results *of, const struct cluster_stage *row)
{
	json_map(json, NULL);
	json_u64(json, "stage", row->stage);
	json_u64(json, "ranks", row->ranks);
	write_parts(json, &row->parts);
	json_u64(json, "slowest", model->devices.row[of->ranks[row->slowest].device].id);
	json_decimal(json, "imbalance_percent", row->imbalance);
	json_map_close(json);
}

static void write_finding(struct json *json, const struct model *model,
			  const struct results *results, const struct cluster_finding *row)
{
	const struct link_usage *link;

	json_map(json, NULL);
	json_text(json, "rule", cluster_rule_name(row->rule));
	write_device(json, model, row->device);
	json_decimal(json, "value", row->value);
	json_decimal(json, row->rule < CLUSTER_RECEIVE ? "mean" : "threshold", row->mean);
	if (row->rule == CLUSTER_LINK) {
		link = &results->devices->communication.links[row->link];
		if (link->transport)
			json_text(json, "transport", model_text(model, link->transport));
		if (link->source != INDEX_NONE)
			json_u64(json, "source", link->source);
		if (link->destination != INDEX_NONE)
			json_u64(json, "destination", link->destination);
	}
	json_map_close(json);
}

void json_cluster_section(struct json *json, const struct model *model,
			  const struct results *results)
{
	const struct cluster_results *of = results->cluster;

	if (!of->count)
		return;
	json_map(json, "cluster");
	json_array(json, "ranks");
	for (uint32_t i = 0; i < of->count; i++)
		write_rank(json, model, &of->ranks[i]);
	json_array_close(json);
	if (of->stage_count)
		json_array(json, "stages");
	for (uint32_t i = 0; i < of->stage_count; i++)
		write_stage(json, model, of, &of->stages[i]);
	if (of->stage_count)
		json_array_close(json);
	json_u64(json, "work_mean_ns", of->mean_work_ns);
	json_decimal(json, "imbalance_percent", of->imbalance);
	json_u64(json, "slowest", model->devices.row[of->ranks[of->slowest].device].id);
	json_array(json, "findings");
	for (uint32_t i = 0; i < of->finding_count; i++)
		write_finding(json, model, results, &of->findings[i]);
	json_array_close(json);
	json_map_close(json);
}
