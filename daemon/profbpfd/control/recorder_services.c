/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/recorder_services.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/profbpfd/control/metric_triggers.h"
#include "daemon/profbpfd/control/trigger_files.h"
#include "daemon/profbpfd/session/triggers.h"

void recorder_services_close(struct services *services)
{
	flight_recorder_free(services->recorder);
	metric_triggers_free(services->metric_triggers);
	triggers_free(services->triggers);
	trigger_files_free(services->trigger_files);
	services->recorder = NULL;
	services->metric_triggers = NULL;
	services->triggers = NULL;
	services->trigger_files = NULL;
}

int recorder_services_open(struct services *services, const struct flight_recorder_options *options, char *error,
			   size_t error_size)
{
	int err = -ENOMEM;

	recorder_services_close(services);
	if (!options->window_ns)
		return 0;
	services->triggers = triggers_new();
	services->trigger_files = trigger_files_new(options->directory, options->space_bytes);
	services->metric_triggers = metric_triggers_new(services);
	snprintf(error, error_size, "%s", RECORDER_NO_ROOM);
	if (services->triggers && services->trigger_files && services->metric_triggers)
		err = flight_recorder_new(services, options, &services->recorder, error, error_size);
	if (err)
		recorder_services_close(services);
	else
		triggers_replace(services->triggers, options->triggers, options->trigger_count);
	return err;
}
