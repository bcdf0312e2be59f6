/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/ioctl.h"

#include <ctype.h>
#include <errno.h>
#include <linux/ioctl.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/map.h"

struct collection {
	struct map groups; /* driver << 32 | process -> a number; keys of rows: the number << 32 | command */
	struct map rows;
	MODEL_ARRAY(struct ioctl_usage) usages;
	uint32_t group_count;
};

/* 96 bits of key in a map of 64: a pair of driver and process gets a number first. */
static struct ioctl_usage *row_of(struct collection *of, uint32_t driver, uint32_t process,
				  uint32_t cmd)
{
	struct ioctl_usage usage = { .driver = driver, .process = process, .cmd = cmd };
	uint64_t pair = (uint64_t)driver << 32 | process;
	uint32_t group = map_get(&of->groups, pair);
	uint32_t index;

	if (group == MAP_NONE) {
		group = of->group_count++;
		if (!map_put(&of->groups, pair, group))
			return NULL;
	}
	index = map_get(&of->rows, (uint64_t)group << 32 | cmd);
	if (index == MAP_NONE) {
		index = of->usages.count;
		if (!map_put(&of->rows, (uint64_t)group << 32 | cmd, index) ||
		    !MODEL_PUSH(&of->usages, usage))
			return NULL;
	}
	return &of->usages.row[index];
}

static void count(struct ioctl_usage *usage, const struct ioctl_call *call)
{
	uint64_t ns = call->end_ns - call->start_ns;

	usage->count++;
	usage->before += !!(call->flags & MODEL_IOCTL_BEFORE);
	if (call->flags & MODEL_CALL_OPEN) {
		usage->open++;
		usage->open_ns += ns;
		return;
	}
	usage->errors += !(call->flags & MODEL_IOCTL_UNSEEN) && call->ret < 0;
	if (call->flags & MODEL_IOCTL_BEFORE) {
		usage->before_ns += ns;
		return;
	}
	usage->returned++;
	usage->total_ns += ns;
	if (ns > usage->max_ns)
		usage->max_ns = ns;
}

static int by_total(const void *a, const void *b)
{
	const struct ioctl_usage *x = a, *y = b;
	uint64_t tx = x->total_ns + x->open_ns + x->before_ns, ty = y->total_ns + y->open_ns + y->before_ns;

	if (tx != ty)
		return tx > ty ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->cmd != y->cmd)
		return x->cmd < y->cmd ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

int ioctl_analyse(const struct model *model, const struct analysis_options *options,
		  struct ioctl_results *results)
{
	struct analysis_window window = analysis_window(model, options);
	struct collection of = { .group_count = 0 };
	int err = 0;

	for (uint32_t i = 0; i < model->ioctls.count && !err; i++) {
		const struct ioctl_call *call = &model->ioctls.row[i];
		uint32_t process = model->threads.row[call->thread].process;
		struct ioctl_usage *usage;

		if (!analysis_has(call->start_ns, &window) ||
		    !analysis_wants_process(model, options, process))
			continue;
		usage = row_of(&of, call->driver, process, call->cmd);
		if (usage)
			count(usage, call);
		else
			err = -ENOMEM;
	}
	if (of.usages.count)
		qsort(of.usages.row, of.usages.count, sizeof(*of.usages.row), by_total);
	results->rows = of.usages.row;
	results->row_count = err ? 0 : of.usages.count;
	map_free(&of.groups);
	map_free(&of.rows);
	return err;
}

void ioctl_free(struct ioctl_results *results)
{
	free(results->rows);
	*results = (struct ioctl_results){ 0 };
}

uint64_t ioctl_mean_ns(const struct ioctl_usage *usage)
{
	return usage->returned ? usage->total_ns / usage->returned : 0;
}

static char *command_text(uint32_t cmd, char *text, size_t size)
{
	static const char *const macros[] = {
		[_IOC_NONE] = "_IO",
		[_IOC_WRITE] = "_IOW",
		[_IOC_READ] = "_IOR",
		[_IOC_READ | _IOC_WRITE] = "_IOWR",
	};
	unsigned int direction = _IOC_DIR(cmd), type = _IOC_TYPE(cmd), bytes = _IOC_SIZE(cmd);
	char letter[8];

	/* Old commands are plain numbers; a command with a direction has a size, and vice versa. */
	if (cmd <= UINT16_MAX || (direction == _IOC_NONE) != (bytes == 0)) {
		snprintf(text, size, "0x%x", cmd);
		return text;
	}
	if (isalnum((int)type))
		snprintf(letter, sizeof(letter), "'%c'", (char)type);
	else
		snprintf(letter, sizeof(letter), "0x%02x", type);
	if (direction == _IOC_NONE)
		snprintf(text, size, "_IO(%s, %u)", letter, _IOC_NR(cmd));
	else
		snprintf(text, size, "%s(%s, %u, %u)", macros[direction], letter, _IOC_NR(cmd),
			 bytes);
	return text;
}

const char *ioctl_command_name(const struct model *model, uint32_t driver, uint32_t cmd, char *text,
			       size_t size)
{
	uint32_t name = model_command_name(model, driver, cmd);

	return name ? model_text(model, name) : command_text(cmd, text, size);
}
