/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/services.h"

void services_lend(const struct services *services, struct session_request *request)
{
	request->file_cache = services->file_cache;
	request->map_watch = services->map_watch;
	request->gate = services->gate;
	request->prices = services->prices;
	request->kernel_names = services->kernel_names;
	request->unwinder = services->unwinder;
	request->keep_figures = services->metrics != NULL;
	request->features = &services->features;
}
