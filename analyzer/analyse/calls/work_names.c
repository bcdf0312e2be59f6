/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/work_names.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/calls/loop_find.h"

#define ASKED 0x100 /* flag beside enum work_name: the name was looked up */

static bool is_whole(const char *name)
{
	static const char *const NAMES[] = {
		"GraphLaunch",	       "mdlExecute",  "mdlRIExecute",
		"ModelExecute",	       "RunGraph",    "LoadedExecutable_Execute",
		"GraphScheduler::Run", "ExecuteGraph"
	};

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
		if (strstr(name, NAMES[i]))
			return true;
	return false;
}

static bool begins_range(const char *function)
{
	return strstr(function, "RangePush") || strstr(function, "_enter");
}

static bool ends_range(const char *function)
{
	return strstr(function, "RangePop") || strstr(function, "_exit");
}

static uint8_t copies(const char *name)
{
	static const char *const FEEDS[] = { "HtoD",	       "H2D",
					     "HostToDevice",   "host_to_device",
					     "Host -> Device", "EnqueueWrite" };
	static const char *const RESULTS[] = { "DtoH",		 "D2H",
					       "DeviceToHost",	 "device_to_host",
					       "Device -> Host", "EnqueueRead" };

	for (size_t i = 0; i < sizeof(FEEDS) / sizeof(*FEEDS); i++) {
		if (strcasestr(name, FEEDS[i]))
			return WORK_NAME_FEEDS;
		if (strcasestr(name, RESULTS[i]))
			return WORK_NAME_RESULTS;
	}
	return 0;
}

static bool waits_for_all(const char *name)
{
	return strstr(name, "Sync") &&
	       (strstr(name, "Device") || strstr(name, "Ctx") || strstr(name, "Context"));
}

static uint8_t ask(const char *name)
{
	return (uint8_t)(copies(name) | (strcasestr(name, "async") ? WORK_NAME_ASYNC : 0) |
			 (waits_for_all(name) ? WORK_NAME_SYNC_ALL : 0) |
			 (loop_is_optimizer(name) ? WORK_NAME_OPTIMIZER : 0) |
			 (is_whole(name) ? WORK_NAME_WHOLE : 0) |
			 (begins_range(name) ? WORK_NAME_BEGINS : 0) |
			 (ends_range(name) ? WORK_NAME_ENDS : 0));
}

bool work_names_init(struct work_names *names, const struct model *model)
{
	*names = (struct work_names){ .model = model,
				      .count = string_table_count(model->strings) };
	names->known = calloc(names->count, sizeof(*names->known));
	return names->known != NULL;
}

void work_names_free(struct work_names *names)
{
	free(names->known);
	*names = (struct work_names){ 0 };
}

uint8_t work_names_of(struct work_names *names, uint32_t string)
{
	if (string >= names->count)
		return ask(model_text(names->model, string));
	if (!names->known[string])
		names->known[string] = ASKED | ask(model_text(names->model, string));
	return (uint8_t)names->known[string];
}
