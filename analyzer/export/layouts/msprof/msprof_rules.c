/* SPDX-License-Identifier: Apache-2.0 */
/* prof_rule: msprof's own advice, from device files. The analyzer's advice has other topics and is not written as msprof's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export/layouts/msprof/msprof.h"
#include "analyzer/view/render/json.h"

/* Advice without a device goes to the first device. */
static bool is_of_device(const struct msprof *msprof, const struct told_advice *row)
{
	return row->device == msprof->device || (msprof->first && row->device == INDEX_NONE);
}

/* Operators, or figures with their names: texts. */
static void put_subjects(struct json *json, const char *subjects)
{
	char *copy = strdup(subjects), *rest = NULL;

	if (!copy) {
		json_fail(json);
		return;
	}
	json_array(json, "Tuning Data");
	for (char *at = strtok_r(copy, ";", &rest); at; at = strtok_r(NULL, ";", &rest))
		json_text(json, NULL, at);
	json_array_close(json);
	free(copy);
}

static void put_rule(struct json *json, const struct model *model, const struct told_advice *row)
{
	json_map(json, NULL);
	json_text(json, "Rule Type", model_text(model, row->topic));
	json_text(json, "Rule Subtype", model_text(model, row->part));
	json_text(json, "Rule Suggestion", model_text(model, row->text));
	put_subjects(json, model_text(model, row->subjects));
	json_map_close(json);
}

static int write_rules(const struct msprof *msprof, FILE *out)
{
	const struct model *model = msprof->model;
	struct json *json = json_new(out, true);

	if (!json)
		return -ENOMEM;
	json_array(json, NULL);
	for (uint32_t i = 0; i < model->told_advice.count; i++)
		if (is_of_device(msprof, &model->told_advice.row[i]))
			put_rule(json, model, &model->told_advice.row[i]);
	json_array_close(json);
	return json_end(json);
}

int msprof_prof_rule(const struct msprof *msprof)
{
	const struct model *model = msprof->model;
	char path[PATH_MAX + 64];
	bool any = false;
	FILE *out;
	int err;

	for (uint32_t i = 0; i < model->told_advice.count; i++)
		any |= is_of_device(msprof, &model->told_advice.row[i]);
	if (!any)
		return 0;
	snprintf(path, sizeof(path), "%s/prof_rule_%u_%s.json", msprof->folder,
		 model->devices.row[msprof->device].id, msprof->stamp);
	out = fopen(path, "w");
	if (!out)
		return -errno;
	err = write_rules(msprof, out);
	return fclose(out) != 0 && !err ? -errno : err;
}
