/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/page/page_data.h"

#include <errno.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/idle/host_waits.h"

/* Device files alone have no recording with a known start. */
static uint64_t begin_of(const struct model *model)
{
	uint64_t first_ns = UINT64_MAX;

	if (model->files.count && model->info.session_start_ns)
		return model->info.session_start_ns;
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (!(task->flags & MODEL_TASK_UNTIMED) && task->start_ns < first_ns)
			first_ns = task->start_ns;
	}
	return first_ns == UINT64_MAX ? 0 : first_ns;
}

static void write_shares(struct json *json, const char *of, const struct root_times *times)
{
	json_map(json, "roots_over_time");
	json_text(json, "of", of);
	json_u64(json, "start_ns", times->from_ns);
	json_u64(json, "interval_ns", times->interval_ns);
	json_array(json, "shares");
	for (uint32_t i = 0; i < times->shares.count; i++) {
		json_u64(json, NULL, times->shares.row[i].interval);
		json_u64(json, NULL, times->shares.row[i].row);
		json_u64(json, NULL, times->shares.row[i].ns);
	}
	json_array_close(json);
	json_map_close(json);
}

int page_roots(struct page_data *data)
{
	const struct results *results = data->results;
	const struct idle_roots *roots = results->devices ? results->devices->idle.roots : NULL;

	if (roots && roots->times.shares.count && data->options->sections & SECTION_IDLE)
		write_shares(data->json, "idle", &roots->times);
	else if (results->waits && results->waits->waits.times.shares.count &&
		 data->options->sections & SECTION_WAITS)
		write_shares(data->json, "waits", &results->waits->waits.times);
	return 0;
}

static void write_causes(struct json *json)
{
	json_map(json, "causes");
	for (uint8_t cause = 0; cause < IDLE_CAUSES; cause++)
		json_text(json, idle_cause_name(cause), idle_cause_text(cause));
	json_map_close(json);
}

int page_data_write(FILE *out, const struct model *model, const struct results *results,
		    const struct report_options *options)
{
	struct page_data data = { .json = json_new(out, false),
				  .model = model,
				  .results = results,
				  .options = options,
				  .origin_ns = begin_of(model) };
	int err, failed;

	if (!data.json)
		return -ENOMEM;
	json_map(data.json, NULL);
	write_causes(data.json);
	err = page_roots(&data);
	if (!err)
		err = page_timeline(&data);
	if (!err && options->sections & SECTION_STACKS)
		err = page_flames(&data);
	json_map_close(data.json);
	failed = json_end(data.json);
	return err ? err : failed;
}
