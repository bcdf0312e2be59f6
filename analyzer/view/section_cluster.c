/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of several ranks, and the results of MindInsight's rules. */
#include "analyzer/analyse/cluster/cluster.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define PARTS                                                                            \
	{ "work_ns" }, { "work_percent", .heading = "% of mean" }, { "computation_ns" }, \
		{ "receive_ns" }, { "collective_ns" },                                   \
	{                                                                                \
		"free_ns"                                                                \
	}

#define PIPELINE_STAGE \
	cell_known(model->devices.row[row->device].stages, model->devices.row[row->device].stage)

/* Overlapping steps have no gap between them. */
#define RANK_FIGURES(COLUMN)                                                                   \
	COLUMN(label, TEXT, "device", "its number and rank", device_label(at, row->device))    \
	COLUMN(pipeline_stage, NUMBER, "stage", "of the job's pipeline", PIPELINE_STAGE)       \
	COLUMN(told, FLAG, "told", "by a file, not by its tasks", cell_known(row->told, true)) \
	COLUMN(step_mean_ns, NS, "step", "mean time of a step",                                \
	       cell_known_i64(row->has_steps, (int64_t)row->step_ns))                          \
	COLUMN(gap_mean_ns, NS, "gap", "mean time between steps",                              \
	       cell_known_i64(row->has_steps, (int64_t)row->gap_ns))                           \
	COLUMN(step_shown_ns, NS, "step", "mean time of a step",                               \
	       cell_known(row->has_steps, (uint64_t)row->step_ns))                             \
	COLUMN(gap_shown_ns, NS, "gap", "mean time between steps",                             \
	       cell_known(row->has_steps, row->gap_ns > 0 ? (uint64_t)row->gap_ns : 0))        \
	COLUMN(flops_per_second, REAL, "operations/s", "of its kernels",                       \
	       cell_known_real(row->flops_rate >= 0, row->flops_rate))

DEFINE_FIGURES(rank_figures, struct cluster_rank, RANK_FIGURES, NULL);

static const struct view_column RANK_COLUMNS[] = {
	{ "label", .how = VIEW_TEXT | VIEW_RIGHT },
	{ "device.id", "device", VIEW_JSON },
	{ "device.rank", .how = VIEW_JSON },
	{ "pipeline_stage", .how = VIEW_JSON },
	{ "stage_ns" },
	PARTS,
	{ "told", .how = VIEW_JSON },
	{ "step_shown_ns", .how = VIEW_TEXT },
	{ "gap_shown_ns", .how = VIEW_TEXT },
	{ "step_mean_ns", "step_ns", VIEW_JSON },
	{ "gap_mean_ns", "iteration_interval_ns", VIEW_JSON },
	{ "flops_per_second", .how = VIEW_JSON },
	{ NULL },
};

static const struct view RANKS = { "ranks", "devices", &table_cluster_ranks, RANK_COLUMNS,
				   .figures = &rank_figures };

#define STAGE_FIGURES(COLUMN)                                        \
	COLUMN(label, TEXT, "slowest device", "its number and rank", \
	       device_label(at, of->results->cluster->ranks[row->slowest].device))

DEFINE_FIGURES(stage_figures, struct cluster_stage, STAGE_FIGURES, NULL);

static const struct view_column STAGE_COLUMNS[] = {
	{ "stage" },
	{ "ranks" },
	PARTS,
	{ "label", .how = VIEW_TEXT | VIEW_RIGHT },
	{ "slowest.id", "slowest", VIEW_JSON },
	{ "imbalance_percent" },
	{ NULL },
};

static const struct view STAGES = {
	"stages",	 NULL, &table_cluster_stages, STAGE_COLUMNS, .figures = &stage_figures,
	.optional = true
};

/* Returns the link that a finding is about; NULL if it is not about a link. */
static const struct link_usage *link_of(const struct table_data *of,
					const struct cluster_finding *row)
{
	return row->rule == CLUSTER_LINK ? &of->results->devices->communication.links[row->link]
					 : NULL;
}

#define LINK link_of(of, row)

#define FINDING_FIGURES(COLUMN)                                                          \
	COLUMN(pipeline_stage, NUMBER, "stage", "of the job's pipeline", PIPELINE_STAGE) \
	COLUMN(of_all, REAL, "mean", "of all ranks",                                     \
	       cell_known_real(row->rule < CLUSTER_RECEIVE, row->mean))                  \
	COLUMN(threshold, REAL, "threshold", "of shares",                                \
	       cell_known_real(row->rule >= CLUSTER_RECEIVE, row->mean))                 \
	COLUMN(transport, TEXT, "transport", "of its link",                              \
	       LINK ? cell_string(model, LINK->transport) : cell_none())                 \
	COLUMN(source, NUMBER, "from rank", "of its link",                               \
	       LINK ? cell_index(LINK->source) : cell_none())                            \
	COLUMN(destination, NUMBER, "to rank", "of its link",                            \
	       LINK ? cell_index(LINK->destination) : cell_none())

DEFINE_FIGURES(finding_figures, struct cluster_finding, FINDING_FIGURES, NULL);

static const struct view_column FINDING_COLUMNS[] = {
	{ "rule" },   { "device.id", "device" }, { "device.rank" }, { "pipeline_stage" },
	{ "value" },  { "of_all", "mean" },	 { "threshold" },   { "transport" },
	{ "source" }, { "destination" },	 { NULL },
};

static const struct view FINDINGS = { "findings", NULL, &table_cluster_findings, FINDING_COLUMNS,
				      .figures = &finding_figures };

static int print_stages(const struct report *report, const struct cluster_results *of)
{
	const struct cluster_stage *slowest = &of->stages[of->slowest_stage];
	int err;

	fputs("\nBy stage of the pipeline (means of its ranks):\n", report->out);
	err = view_text(report, &STAGES);
	if (!err && of->stage_count > 1)
		fprintf(report->out,
			"Stage %u has the most work, %.1f %% more than the mean of the stages.\n",
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

/* The text of a finding against the mean: "<says> <value / unit> <unit>, N % of the mean<advice>". */
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

static void print_findings(const struct report *report, const struct cluster_results *of)
{
	uint32_t shown = rows_shown(report->options, of->finding_count);

	for (uint32_t i = 0; i < shown; i++)
		print_finding(report->out, report->model, report->results, &of->findings[i]);
	text_more(report->out, "findings", of->finding_count, shown);
}

static int cluster_text(const struct report *report)
{
	const struct cluster_results *of = report->results->cluster;
	const struct device *slowest;
	bool told = false;
	int err;

	if (!of || !of->count)
		return 0;
	print_heading(report->out, report->options,
		      "Devices side by side (work: without waiting to receive)");
	err = view_text(report, &RANKS);
	if (err)
		return err;
	for (uint32_t i = 0; i < of->count; i++)
		told |= of->ranks[i].told;
	if (told)
		fputs("Devices without tasks: mean steps from a file; their computation includes idle time.\n",
		      report->out);
	slowest = &report->model->devices.row[of->ranks[of->slowest].device];
	fprintf(report->out,
		of->several_jobs ? "They are ranks of several jobs, each compared with its own job. "
				   "In one the mean of their work, without waits for others in collectives, is %.3f "
				   "ms; %s %u has the most, %.1f %% more.\n"
				 : "The mean of their work, without waits for others in collectives, is %.3f ms; "
				   "%s %u has the most, %.1f %% more.\n",
		(double)of->mean_own_ns / 1e6, slowest->has_rank ? "rank" : "device",
		slowest->has_rank ? slowest->rank : slowest->id, of->imbalance);
	if (of->stage_count)
		err = print_stages(report, of);
	if (!err)
		print_findings(report, of);
	return err;
}

static void cluster_json(const struct report *report)
{
	const struct cluster_results *of = report->results->cluster;
	const struct device *slowest;
	struct json *json = report->json;

	if (!of || !of->count)
		return;
	json_map(json, "cluster");
	view_json(report, &RANKS);
	view_json(report, &STAGES);
	json_u64(json, "work_mean_ns", of->mean_work_ns);
	json_decimal(json, "imbalance_percent", of->imbalance);
	slowest = &report->model->devices.row[of->ranks[of->slowest].device];
	json_u64(json, "slowest", slowest->id);
	if (slowest->has_rank)
		json_u64(json, "slowest_rank", slowest->rank);
	view_json(report, &FINDINGS);
	json_map_close(json);
}

const struct section section_cluster = { cluster_text, cluster_json,
					 VIEWS(&RANKS, &STAGES, &FINDINGS), "cluster" };
