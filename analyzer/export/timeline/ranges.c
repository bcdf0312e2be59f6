/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/calls/work_names.h"
#include "analyzer/join/launch/call_kind.h"

#define CALLS "api" /* source of the records of calls */
#define DEPTH_MAX 4096 /* more open ranges are invalid: their ends were not recorded */

struct finder {
	const struct model *model;
	struct work_names names;
	uint32_t *of_call;
	uint32_t open[DEPTH_MAX];
	uint32_t depth;
};

static bool calls_lost(const struct model *model)
{
	for (uint32_t i = 0; i < model->sources.count; i++) {
		const struct source_loss *source = &model->sources.row[i];

		for (uint32_t k = 0; k < source->reason_count; k++)
			if (source->reasons[k].count &&
			    strcmp(model_text(model, source->name), CALLS) == 0)
				return true;
	}
	return false;
}

/* Returns WORK_NAME_BEGINS, WORK_NAME_ENDS or 0. */
static uint8_t part_of(struct finder *finder, const struct call *call)
{
	const struct function *function = call_function(finder->model, call);
	uint8_t says;

	if (!function || function->kind != PROFBPF__FUNCTION__KIND__MARKER || function->scope)
		return 0;
	says = work_names_of(&finder->names, function->name);
	if (says & WORK_NAME_BEGINS)
		return call->text ? WORK_NAME_BEGINS : 0;
	return says & WORK_NAME_ENDS;
}

static bool any_range(struct finder *finder)
{
	for (uint32_t i = 0; i < finder->model->calls.count; i++)
		if (part_of(finder, &finder->model->calls.row[i]) == WORK_NAME_BEGINS)
			return true;
	return false;
}

static void find_in(struct finder *finder, uint32_t first, uint32_t end)
{
	finder->depth = 0;
	for (uint32_t i = first; i < end; i++) {
		uint8_t part = part_of(finder, &finder->model->calls.row[i]);

		if (part == WORK_NAME_BEGINS && finder->depth < DEPTH_MAX) {
			finder->open[finder->depth++] = i;
			finder->of_call[i] = RANGE_OPEN;
		} else if (part == WORK_NAME_ENDS && finder->depth) {
			finder->of_call[finder->open[--finder->depth]] = i;
			finder->of_call[i] = RANGE_ENDS;
		}
	}
}

static int find(struct finder *finder)
{
	const struct model *model = finder->model;
	uint32_t first, count;

	if (!any_range(finder))
		return 0;
	finder->of_call = indices_none(model->calls.count);
	if (!finder->of_call)
		return -ENOMEM;
	for (uint32_t thread = 0; thread < model->threads.count; thread++) {
		count = model_thread_calls(model, thread, &first);
		find_in(finder, first, first + count);
	}
	return 0;
}

int ranges_find(const struct model *model, struct ranges *ranges)
{
	struct finder *finder;
	int err = -ENOMEM;

	*ranges = (struct ranges){ 0 };
	if (calls_lost(model))
		return 0;
	finder = calloc(1, sizeof(*finder));
	if (!finder)
		return -ENOMEM;
	finder->model = model;
	if (work_names_init(&finder->names, model))
		err = find(finder);
	work_names_free(&finder->names);
	ranges->of_call = finder->of_call;
	free(finder);
	return err;
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->of_call);
	*ranges = (struct ranges){ 0 };
}
