/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/report_straggler.h"

#include <stdio.h>
#include <string.h>

/* What is different on it; "" if that is not known. */
static void why_text(const struct model *model, const struct straggler *why, char *text,
		     size_t size)
{
	const char *name = model_text(model, why->name);

	*text = '\0';
	switch (why->why) {
	case STRAGGLER_CLOCK:
		snprintf(text, size,
			 ", on which all kernels take %.2f times as long as on the others",
			 why->own);
		break;
	case STRAGGLER_KERNEL:
		snprintf(text, size, ", on which %.200s takes %.3f ms, on the others %.3f ms",
			 name, why->own / 1e6, why->others / 1e6);
		break;
	case STRAGGLER_WORK:
		snprintf(text, size, ", on which %.200s runs %.0f times, on the others %.0f times",
			 name, why->own, why->others);
		break;
	case STRAGGLER_DATA:
	case STRAGGLER_HOST:
		snprintf(text, size,
			 ", whose device waits for its host for %.3f ms, the others' for "
			 "%.3f ms%s%.200s",
			 why->own / 1e6, why->others / 1e6, *name ? ": in " : "", name);
		break;
	default: break;
	}
}

void straggler_text(const struct model *model, const struct straggler *straggler, char *text,
		    size_t size)
{
	char why[512];

	why_text(model, straggler, why, sizeof(why));
	if (straggler->percent > 0)
		snprintf(text, size, " (%.1f %% of its time)%s", straggler->percent, why);
	else
		snprintf(text, size, "%s", why);
}

void json_straggler(struct json *json, const struct model *model,
		    const struct straggler *straggler)
{
	const struct device *device;

	if (straggler->device >= model->devices.count)
		return;
	device = &model->devices.row[straggler->device];
	json_map(json, "straggler");
	json_u64(json, "device", device->id);
	if (device->has_rank)
		json_u64(json, "rank", device->rank);
	json_u64(json, "late_ns", straggler->late_ns);
	json_decimal(json, "percent", straggler->percent);
	if (straggler_why_name(straggler->why)) {
		json_text(json, "why", straggler_why_name(straggler->why));
		json_decimal(json, "own", straggler->own);
		json_decimal(json, "others", straggler->others);
	}
	if (straggler->name)
		json_text(json, "name", model_text(model, straggler->name));
	json_map_close(json);
}
