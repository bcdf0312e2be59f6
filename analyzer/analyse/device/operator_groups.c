/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/operator_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device/operator_core.h"

_Static_assert(sizeof(struct operator_key) == 5 * sizeof(uint32_t) + 4, "keys have no holes");

struct operator_key operator_key_of(const struct model *model, const struct device_task *task)
{
	const struct task_detail *detail = model_task_detail(model, task);

	return (struct operator_key){ .device = task->device,
				      .name = task->name,
				      .type = task->type,
				      .shapes = detail ? detail->input_shapes : 0,
				      .types = detail ? detail->input_types : 0,
				      .kind = task->kind,
				      .core = (uint8_t)task_core(model, task),
				      .detailed = detail != NULL };
}

static bool belongs(const struct model *model, const struct analysis_options *options,
		    const struct analysis_window *window, const struct device_task *task)
{
	return !(task->flags & MODEL_TASK_UNTIMED) &&
	       task->kind != PROFBPF__DEVICE_TASKS__KIND__SYNC &&
	       task->device < model->devices.count && analysis_has(task->start_ns, window) &&
	       analysis_wants_process(model, options, model->devices.row[task->device].process);
}

/* Returns the group of a key; NULL without memory. @keys: an id is 1 + the index of the group. */
static struct operator_group *group_of(struct string_table *keys, struct operator_groups *groups,
				       const struct operator_key *key)
{
	uint32_t id = string_table_add(keys, (const char *)key, sizeof(*key));

	if (id == STRING_NONE || (id > groups->count &&
				  !MODEL_PUSH(groups, (struct operator_group){ .key = *key })))
		return NULL;
	return &groups->row[id - 1];
}

static void add_time(struct operator_group *group, const struct device_task *task)
{
	uint64_t ns = task->end_ns - task->start_ns;

	if (!group->count || ns < group->min_ns)
		group->min_ns = ns;
	if (ns > group->max_ns)
		group->max_ns = ns;
	group->count++;
	group->total_ns += ns;
}

int operator_groups_find(const struct model *model, const struct analysis_options *options,
			 struct operator_groups *groups)
{
	const struct analysis_window window = analysis_window(model, options);
	struct string_table *keys = string_table_new();
	int err = keys ? 0 : -ENOMEM;

	*groups = (struct operator_groups){ 0 };
	for (uint32_t i = 0; i < model->tasks.count && !err; i++) {
		const struct device_task *task = &model->tasks.row[i];
		struct operator_group *group;
		struct operator_key key;

		if (!belongs(model, options, &window, task))
			continue;
		key = operator_key_of(model, task);
		/* Otherwise data types would separate tasks of equal shapes. */
		if (!options->operators.dtype)
			key.types = key.detailed = 0;
		group = group_of(keys, groups, &key);
		if (!group || !operator_figures_add(model, task, &group->figures, &group->metrics))
			err = -ENOMEM;
		else
			add_time(group, task);
	}
	string_table_free(keys);
	return err;
}

void operator_groups_free(struct operator_groups *groups)
{
	for (uint32_t i = 0; i < groups->count; i++)
		free(groups->row[i].metrics.row);
	free(groups->row);
	*groups = (struct operator_groups){ 0 };
}
