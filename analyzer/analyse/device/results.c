/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/results.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/join/launch/launch_ids.h"
#include "analyzer/join/launch/launch_order.h"

/* The operators by the options, and all operators by type and by core. */
static int analyse_operators(const struct model *model, const struct analysis_options *options,
			     struct device_results *results)
{
	struct analysis_options all = *options;
	struct operator_groups groups;
	int error = operator_groups_find(model, options, &groups);

	if (!error)
		error = operators_of_groups(model, &groups, options, &results->operators);
	all.operators = (struct operator_options){ .by = OPERATOR_BY_TYPE };
	if (!error)
		error = operators_of_groups(model, &groups, &all, &results->types);
	all.operators.by = OPERATOR_BY_CORE;
	if (!error)
		error = operators_of_groups(model, &groups, &all, &results->cores);
	operator_groups_free(&groups);
	return error;
}

static bool has_anchored_device(const struct model *model)
{
	for (uint32_t i = 0; i < model->devices.count; i++) {
		if (model->devices.row[i].anchored && !model->devices.row[i].own_clock)
			return true;
	}
	return false;
}

int device_results_join(struct model *model, struct device_results *results)
{
	struct launch_ids ids = { 0 };
	uint64_t ambiguous = 0;
	int error;

	*results = (struct device_results){ .device_count = model->devices.count };
	results->clocks = calloc((size_t)model->devices.count + 1, sizeof(*results->clocks));
	if (!results->clocks)
		return -ENOMEM;
	error = launch_ids_join(model, &ids);
	if (!error)
		error = launch_order_join_first(model, &ambiguous);
	/*
	 * Uncertain clocks are checked against the launches joined so far; then launches are joined again by the
	 * corrected times.
	 */
	if (!error && has_anchored_device(model))
		error = launches_join(model, &results->launches);
	if (!error)
		error = device_clocks_join(model, results->clocks);
	if (!error)
		error = launches_join(model, &results->launches);
	results->launches.ambiguous += ids.ambiguous + ambiguous;
	return error ? error : launched_names_join(model);
}

int device_results_analyse(struct model *model, const struct analysis_options *options,
			   struct device_results *results)
{
	int error = devices_analyse(model, options, &results->devices);

	if (!error)
		error = analyse_operators(model, options, results);
	if (!error)
		error = overlap_analyse(model, options, &results->overlap);
	if (!error)
		error = communication_analyse(model, options, &results->communication);
	return error;
}

int device_results_idle(struct model *model, const struct analysis_options *options,
			struct device_results *results)
{
	return idle_analyse(model, results->devices, options, &results->idle);
}

int device_results_compute(struct model *model, const struct analysis_options *options,
			   struct device_results *results)
{
	int error = device_results_join(model, results);

	if (!error)
		error = device_results_analyse(model, options, results);
	return error ? error : device_results_idle(model, options, results);
}

void device_results_keep_join(struct device_results *results)
{
	devices_free(results->devices, results->device_count);
	overlap_free(&results->overlap);
	communication_free(&results->communication);
	idle_free(&results->idle);
	operators_free(&results->operators);
	operators_free(&results->types);
	operators_free(&results->cores);
	*results = (struct device_results){ .device_count = results->device_count,
					    .clocks = results->clocks,
					    .launches = results->launches };
}

void device_results_free(struct device_results *results)
{
	device_results_keep_join(results);
	free(results->clocks);
	*results = (struct device_results){ 0 };
}
