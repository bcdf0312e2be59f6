/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_raw.h"
#include "lib/base/map.h"

#define NUMBERS 65536 /* range of the numbers of streams and of tasks */
#define SAME_MAX 64 /* maximum number of streams of one task number that are compared */

/* An operator of the framework, "Default/network/Mul-op29 1 30093 3": name, blocks, task, stream. */
struct described {
	uint32_t name;
	uint32_t type;
	uint32_t blocks;
	uint32_t next; /* next row with the same task number, or MAP_NONE */
	uint16_t task;
	uint16_t stream;
};

struct names {
	struct import *import;
	MODEL_ARRAY(struct described) rows;
	struct map by_key; /* stream << 16 | task -> row */
};

/* The type of "Default/network/Mul-op29" is Mul. */
static uint32_t type_of(struct model *model, const char *name)
{
	const char *last = strrchr(name, '/'), *end;
	char type[128];

	last = last ? last + 1 : name;
	end = strstr(last, "-op");
	snprintf(type, sizeof(type), "%.*s", end ? (int)(end - last) : (int)strlen(last), last);
	return model_string(model, type);
}

/* Cuts off the last word of a text and returns it as a number below @end. */
static bool cut_number(char *text, unsigned long end, unsigned long *number)
{
	char *word = strrchr(text, ' '), *rest;

	if (!word)
		return false;
	errno = 0;
	*number = strtoul(word + 1, &rest, 10);
	*word = '\0';
	return rest != word + 1 && !*rest && !errno && *number < end;
}

static int add_line(struct names *names, char *line)
{
	struct model *model = names->import->model;
	unsigned long stream, task, blocks;
	struct described row;

	line[strcspn(line, "\r\n")] = '\0';
	if (!cut_number(line, NUMBERS, &stream) || !cut_number(line, NUMBERS, &task) ||
	    !cut_number(line, INDEX_NONE, &blocks) || !*line)
		return 0;
	row = (struct described){ .name = model_string(model, line),
				  .type = type_of(model, line),
				  .blocks = (uint32_t)blocks,
				  .task = (uint16_t)task,
				  .stream = (uint16_t)stream };
	if (row.name == INDEX_NONE || row.type == INDEX_NONE || !MODEL_PUSH(&names->rows, row) ||
	    !map_put(&names->by_key, stream << 16 | task, names->rows.count - 1))
		return -ENOMEM;
	return 0;
}

static int read_lines(struct names *names, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	while (file && !err && getline(&line, &size, file) > 0)
		err = add_line(names, line);
	free(line);
	if (file)
		fclose(file);
	return err;
}

/* If the folder's name contains a pattern of glob(), nothing is found. */
static int read_files(struct names *names, uint64_t device)
{
	const char *path = names->import->path, *slash = strrchr(path, '/');
	char pattern[PATH_MAX];
	glob_t found;
	int err = 0;

	if (snprintf(pattern, sizeof(pattern),
		     "%.*sFramework.host.vm.task_desc_info.%llu.*slice_[0-9]",
		     slash ? (int)(slash - path) + 1 : 0, path,
		     (unsigned long long)device) >= (int)sizeof(pattern) ||
	    glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && !err; i++)
		err = read_lines(names, found.gl_pathv[i]);
	globfree(&found);
	return err;
}

static uint64_t key_of(const struct model *model, const struct device_task *task)
{
	return task->stream << 16 | model->task_details.row[task->detail - 1].task_id;
}

/* Counts, for each constant, the operators whose stream plus that constant is @key's stream. */
static bool vote(const struct names *names, const struct map *first, uint64_t key,
		 struct map *votes)
{
	uint32_t row = map_get(first, key & (NUMBERS - 1));
	bool ok = true;

	for (int i = 0; i < SAME_MAX && row != MAP_NONE && ok; i++) {
		uint64_t constant = (key >> 16) - names->rows.row[row].stream + NUMBERS;
		uint32_t count = map_get(votes, constant);

		ok = map_put(votes, constant, count == MAP_NONE ? 1 : count + 1);
		row = names->rows.row[row].next;
	}
	return ok;
}

/* Votes for each task of the log once. */
static bool vote_all(struct names *names, uint32_t first_task, const struct map *first,
		     struct map *votes)
{
	const struct model *model = names->import->model;
	struct map seen = { 0 };
	bool ok = true;

	for (uint32_t i = first_task; i < model->tasks.count && ok; i++) {
		uint64_t key = key_of(model, &model->tasks.row[i]);

		if (map_get(&seen, key) != MAP_NONE)
			continue;
		ok = vote(names, first, key, votes) && map_put(&seen, key, 1);
	}
	map_free(&seen);
	return ok;
}

/* The constant with most votes; INT_MIN if there is none, or a tie. */
static int best_of(const struct map *votes)
{
	uint32_t most = 0;
	int best = INT_MIN;

	for (uint32_t i = 0; votes->slot && i <= votes->mask; i++) {
		const struct map_slot *slot = &votes->slot[i];

		if (slot->value == MAP_NONE || slot->value < most)
			continue;
		best = slot->value == most ? INT_MIN : (int)((int64_t)slot->key - NUMBERS);
		most = slot->value;
	}
	return best;
}

static int find_offset(struct names *names, uint32_t first_task, int *offset)
{
	struct map first = { 0 }, votes = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < names->rows.count; i++) {
		struct described *row = &names->rows.row[i];

		row->next = map_get(&first, row->task);
		ok = map_put(&first, row->task, i);
	}
	ok = ok && vote_all(names, first_task, &first, &votes);
	if (ok)
		*offset = best_of(&votes);
	map_free(&first);
	map_free(&votes);
	return ok ? 0 : -ENOMEM;
}

static void put_names(struct names *names, uint32_t first_task, int offset)
{
	struct model *model = names->import->model;

	for (uint32_t i = first_task; i < model->tasks.count; i++) {
		struct device_task *task = &model->tasks.row[i];
		int64_t stream = (int64_t)task->stream - offset;
		struct task_detail *detail = &model->task_details.row[task->detail - 1];
		uint32_t row = stream < 0 ? MAP_NONE
					  : map_get(&names->by_key,
						    (uint64_t)stream << 16 | detail->task_id);

		if (row == MAP_NONE)
			continue;
		task->name = names->rows.row[row].name;
		task->type = names->rows.row[row].type;
		detail->blocks = names->rows.row[row].blocks;
	}
}

int ascend_raw_name(struct import *import, uint64_t device, uint32_t first)
{
	struct names names = { .import = import };
	int offset = INT_MIN, err = read_files(&names, device);

	if (!err && names.rows.count)
		err = find_offset(&names, first, &offset);
	if (!err && names.rows.count && offset == INT_MIN)
		err = import_finding(import,
				     "names of operators that may be of several streams' tasks",
				     "Framework.host.vm.task_desc_info");
	else if (!err && names.rows.count)
		put_names(&names, first, offset);
	free(names.rows.row);
	map_free(&names.by_key);
	return err;
}
