/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/compare/figures.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/calls/api.h"
#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/host/processes.h"
#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/pipeline/pipelines.h"
#include "analyzer/analyse/pipeline/steps.h"

#define NAME_SIZE 512

static const struct {
	const char *name;
	bool share;
} KINDS[FIGURE_KINDS] = {
	[FIGURE_STEP] = { "step", false },
	[FIGURE_DEVICE] = { "device", true },
	[FIGURE_ROOT] = { "root", true },
	[FIGURE_STAGE] = { "stage", true },
	[FIGURE_OPERATOR] = { "operator", false },
	[FIGURE_API] = { "api", false },
	[FIGURE_CPU] = { "cpu", true },
	[FIGURE_PROCESS] = { "process", true },
};

const char *figure_kind_name(uint8_t kind)
{
	return KINDS[kind].name;
}

bool figure_is_share(uint8_t kind)
{
	return KINDS[kind].share;
}

double figure_value(const struct figure *figure)
{
	return figure->amount / figure->by * (figure_is_share(figure->kind) ? 100 : 1);
}

static bool push(struct figures *figures, uint8_t kind, const char *name, double amount, double by,
		 double weight)
{
	struct figure row = { .kind = kind, .amount = amount, .by = by, .weight = weight };

	if (by <= 0)
		return true;
	row.name = strdup(name);
	if (row.name && MODEL_PUSH(figures, row))
		return true;
	free(row.name);
	return false;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static bool take_steps(const struct results *results, double window_ns, struct figures *figures)
{
	const struct step_results *host = results->steps;
	const struct device_step_results *device = results->device_steps;
	double sum = 0;

	if (host && host->main != INDEX_NONE) {
		const struct pipeline_steps *steps = &host->pipelines[host->main];

		for (uint32_t i = 0; i < steps->count; i++)
			sum += (double)steps->rows[i].duration_ns;
		return push(figures, FIGURE_STEP, "mean", sum, steps->count,
			    percent(sum, window_ns));
	}
	if (device && device->main != INDEX_NONE) {
		const struct device_step_means *means = &device->traces[device->main].means;

		sum = means->duration_ns * means->steps;
		return push(figures, FIGURE_STEP, "mean", sum, means->steps,
			    percent(sum, window_ns));
	}
	return true;
}

/* The name of a root, without pids and tids, which differ from run to run. */
static void root_name(const struct model *model, const struct root *root, char *name, size_t size)
{
	const char *who = "";

	if (root->who_kind == WHO_IDLE_CPU)
		who = "an idle CPU";
	else if ((root->who_kind == WHO_THREAD || root->who_kind == WHO_RUNNER) &&
		 root->who < model->threads.count)
		who = model_text(model, model->threads.row[root->who].name);
	snprintf(name, size, "%s%s%s", idle_cause_name(root->cause), *who ? " " : "", who);
}

static bool take_roots(const struct model *model, const struct idle_roots *roots, double window_ns,
		       struct figures *figures)
{
	char name[NAME_SIZE];

	/* The rows are complete even if there are none: a device that is never idle has none. */
	if (window_ns > 0)
		figures->told |= 1u << FIGURE_ROOT;
	for (uint32_t i = 0; i < roots->count; i++) {
		double ns = (double)roots->row[i].ns;

		root_name(model, &roots->row[i].root, name, sizeof(name));
		if (!push(figures, FIGURE_ROOT, name, ns, window_ns, percent(ns, window_ns)))
			return false;
	}
	return true;
}

static bool take_waits(const struct model *model, const struct host_waits *waits,
		       struct figures *figures)
{
	double window_ns = (double)waits->window_ns;

	return take_roots(model, &waits->waits, window_ns, figures) &&
	       take_roots(model, &waits->own, window_ns, figures);
}

static bool take_operators(const struct model *model, const struct device_results *devices,
			   double window_ns, struct figures *figures)
{
	const struct operator_list *list = &devices->operators;

	for (uint32_t i = 0; i < list->count; i++) {
		const char *name = model_text(model, list->rows[i].name);
		double ns = (double)list->rows[i].total_ns;

		if (!push(figures, FIGURE_OPERATOR, *name ? name : "without a name", ns,
			  (double)list->rows[i].count, percent(ns, window_ns)))
			return false;
	}
	return true;
}

static bool take_devices(const struct model *model, const struct results *results,
			 struct figures *figures)
{
	const struct device_results *devices = results->devices;
	double window_ns = 0, busy_ns = 0;
	bool known = true;

	for (uint32_t i = 0; devices && i < devices->device_count; i++) {
		known &= !devices->devices[i].window_ns ||
			 device_busy_known(model, &devices->devices[i]);
		window_ns += (double)devices->devices[i].window_ns;
		busy_ns += (double)devices->devices[i].busy_ns;
	}
	if (window_ns <= 0)
		return !results->waits || take_waits(model, results->waits, figures);
	if ((known && !push(figures, FIGURE_DEVICE, "busy", busy_ns, window_ns, 100)) ||
	    !take_operators(model, devices, window_ns, figures))
		return false;
	return !devices->idle.roots || take_roots(model, devices->idle.roots, window_ns, figures);
}

static bool take_stages(const struct model *model, const struct pipeline_results *pipelines,
			struct figures *figures)
{
	char name[NAME_SIZE];

	for (uint32_t i = 0; pipelines && i < pipelines->count; i++) {
		const struct pipeline_usage *usage = &pipelines->rows[i];
		double window_ns = (double)pipelines->window_ns;

		for (uint32_t k = 0; k < usage->pipeline->operators.count; k++) {
			const struct operator_pipeline_usage *row = &usage->operators[k];
			double ns = (double)row->all_run_ns;

			if (!row->has_times)
				continue;
			snprintf(name, sizeof(name), "%s %s", usage->pipeline->framework,
				 model_text(model, usage->pipeline->operators.row[k].name));
			if (!push(figures, FIGURE_STAGE, name, ns, window_ns,
				  percent(ns, window_ns)))
				return false;
		}
	}
	return true;
}

static bool take_calls(const struct model *model, const struct api_results *api, double window_ns,
		       struct figures *figures)
{
	for (uint32_t i = 0; api && i < api->row_count; i++) {
		const struct api_usage *row = &api->rows[i];
		double ns = (double)row->durations.total_ns;

		if (!push(figures, FIGURE_API,
			  model_text(model, model->functions.row[row->function].name), ns,
			  (double)row->durations.count, percent(ns, window_ns)))
			return false;
	}
	return true;
}

static bool take_host(const struct host_results *host, struct figures *figures)
{
	const struct cpu_usage *all = host ? &host->all : NULL;
	double busy, idle;

	if (!host || !host->known)
		return true;
	busy = (double)all->user_ns + (double)all->system_ns + (double)all->irq_ns +
	       (double)all->softirq_ns;
	idle = (double)all->idle_ns + (double)all->iowait_ns;
	return push(figures, FIGURE_CPU, "host", busy, busy + idle, 100);
}

static bool take_processes(const struct model *model, const struct process_results *processes,
			   struct figures *figures)
{
	double window_ns = processes ? (double)processes->window_ns : 0;

	for (uint32_t i = 0; processes && i < processes->process_count; i++) {
		const struct process_usage *row = &processes->processes[i];
		const char *name = model_text(model, model->processes.row[row->process].name);
		double ns = (double)row->run_ns;

		if (row->source != USAGE_UNKNOWN &&
		    !push(figures, FIGURE_PROCESS, name, ns, window_ns, percent(ns, window_ns)))
			return false;
	}
	return true;
}

static int compare_figures(const void *a, const void *b)
{
	const struct figure *x = a, *y = b;

	return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
				  : strcmp(x->name, y->name);
}

/* Adds up figures of one kind and name. Shares have a common denominator; the counts of means are added up. */
static void merge(struct figures *figures)
{
	uint32_t kept = 0;

	if (figures->count)
		qsort(figures->row, figures->count, sizeof(*figures->row), compare_figures);
	for (uint32_t i = 0; i < figures->count; i++) {
		struct figure *row = &figures->row[i];
		struct figure *last = kept ? &figures->row[kept - 1] : NULL;

		if (!last || compare_figures(last, row) != 0) {
			figures->row[kept++] = *row;
			continue;
		}
		last->amount += row->amount;
		if (!figure_is_share(row->kind))
			last->by += row->by;
		last->weight += row->weight;
		free(row->name);
	}
	figures->count = kept;
}

int figures_take(const struct model *model, const struct results *results, struct figures *figures)
{
	double window_ns = (double)(results->to_ns - results->from_ns);
	bool done = take_steps(results, window_ns, figures) &&
		    take_devices(model, results, figures) &&
		    take_stages(model, results->pipelines, figures) &&
		    take_calls(model, results->api, window_ns, figures) &&
		    take_host(results->host, figures) &&
		    take_processes(model, results->processes, figures);

	merge(figures);
	return done ? 0 : -ENOMEM;
}

void figures_free(struct figures *figures)
{
	for (uint32_t i = 0; i < figures->count; i++)
		free(figures->row[i].name);
	free(figures->row);
	*figures = (struct figures){ 0 };
}
