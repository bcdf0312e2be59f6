/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/results.h"

#include <errno.h>
#include <stdlib.h>

int device_results_compute(struct model *model, const struct analysis_options *options,
			   struct device_results *results)
{
	int error;

	*results = (struct device_results){ .device_count = model->devices.count };
	results->clocks = calloc((size_t)model->devices.count + 1, sizeof(*results->clocks));
	if (!results->clocks)
		return -ENOMEM;
	error = device_clocks_join(model, results->clocks);
	if (!error)
		error = launches_join(model, &results->launches);
	if (!error)
		error = devices_analyse(model, options, &results->devices);
	if (!error)
		error = operators_analyse(model, options, &results->operators,
					  &results->operator_count);
	if (!error)
		error = idle_analyse(model, results->devices, options, &results->idle);
	return error;
}

void device_results_free(struct device_results *results)
{
	devices_free(results->devices, results->device_count);
	idle_free(&results->idle);
	free(results->operators);
	free(results->clocks);
	*results = (struct device_results){ 0 };
}
