/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes of collectives in Ascend's databases. COMMUNICATION_OP.count is HCCL's argument: for an all-gather the
 * elements that a rank sends, for a reduce-scatter those that it receives, for others but all-to-all the whole
 * message. The number of ranks is in META_DATA's parallel_group_info, {"NAME OF HCCL": {"global_ranks": [0, 1]}}.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/import/ascend/ascend_db.h"
#include "analyzer/import/readers/json_file.h"
#include "analyzer/import/task_find.h"

#define RANKS_MAX (1u << 16) /* bytes of a list of ranks */

/*
 * The list of ranks as "[0,1]"; 0 = it contains other values than numbers, or too many; INDEX_NONE if out of
 * memory.
 */
static uint32_t ranks_text(struct model *model, yajl_val ranks)
{
	char *text = malloc(RANKS_MAX);
	size_t used = 1;
	uint32_t string = 0;

	if (!text)
		return INDEX_NONE;
	text[0] = '[';
	for (size_t i = 0; i < ranks->u.array.len && used < RANKS_MAX; i++) {
		const char *number = json_file_number(ranks->u.array.values[i]);

		used += number ? (size_t)snprintf(text + used, RANKS_MAX - used, "%s%s",
						  i ? "," : "", number)
			       : RANKS_MAX;
	}
	if (used + 2 <= RANKS_MAX) {
		strcpy(text + used, "]");
		string = model_string(model, text);
	}
	free(text);
	return string;
}

static int add_group(struct database *file, const char *name, yajl_val ranks)
{
	struct model *model = file->import->model;
	uint32_t key = model_string(model, name);
	struct ascend_group group = { .ranks = ranks_text(model, ranks) };

	if (key == INDEX_NONE || group.ranks == INDEX_NONE)
		return -ENOMEM;
	if (!key || !group.ranks || !ranks->u.array.len || ranks->u.array.len >= INDEX_NONE)
		return 0;
	group.members = (uint32_t)ranks->u.array.len;
	return MODEL_PUSH(&file->group_rows, group) &&
			       map_put(&file->groups, key, file->group_rows.count - 1)
		       ? 0
		       : -ENOMEM;
}

int ascend_db_group(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	const char *value = (const char *)sqlite3_column_text(row, 1);
	char ignored[256];
	yajl_val tree;
	int err = 0;

	if (!name || !value || strcmp(name, "parallel_group_info") != 0)
		return 0;
	tree = json_text_tree(value, ignored, sizeof(ignored));
	for (size_t i = 0; tree && YAJL_IS_OBJECT(tree) && i < tree->u.object.len && !err; i++) {
		yajl_val ranks = json_file_list(tree->u.object.values[i], "global_ranks");

		if (ranks)
			err = add_group(file, tree->u.object.keys[i], ranks);
	}
	yajl_tree_free(tree);
	return err;
}

/* Size in bytes of an element of HCCL's data type; 0 = unknown. */
static uint64_t element_bytes(const char *type)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} TYPES[] = {
		{ "INT8", 1 },	 { "INT16", 2 },  { "INT32", 4 },  { "INT64", 8 }, { "UINT8", 1 },
		{ "UINT16", 2 }, { "UINT32", 4 }, { "UINT64", 8 }, { "FP16", 2 },  { "FP32", 4 },
		{ "FP64", 8 },	 { "BFP16", 2 },  { "INT128", 16 },
	};

	for (size_t i = 0; i < sizeof(TYPES) / sizeof(*TYPES); i++)
		if (strcasecmp(type, TYPES[i].name) == 0)
			return TYPES[i].bytes;
	return 0;
}

/* The size of the larger of both messages, as a multiple of the count; 0 = unknown. */
static uint64_t counts_of(const char *name, uint64_t members)
{
	/*
	 * The first entry whose text is part of the name matches. Ranks of a "v" operation may send different
	 * amounts.
	 */
	static const struct {
		const char *part;
		enum { NOT_KNOWN, WHOLE, OF_ONE } count;
	} KINDS[] = {
		{ "alltoall", NOT_KNOWN },	 { "allgatherv", NOT_KNOWN },
		{ "reducescatterv", NOT_KNOWN }, { "batchsendrecv", NOT_KNOWN },
		{ "allreduce", WHOLE },		 { "allgather", OF_ONE },
		{ "reducescatter", OF_ONE },	 { "broadcast", WHOLE },
		{ "send", WHOLE },		 { "receive", WHOLE },
		{ "reduce", WHOLE },
	};
	char letters[256];
	size_t used = 0;

	for (; *name && used + 1 < sizeof(letters); name++)
		if (isalpha((unsigned char)*name))
			letters[used++] = (char)tolower((unsigned char)*name);
	letters[used] = '\0';
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS); i++)
		if (strstr(letters, KINDS[i].part))
			return KINDS[i].count == OF_ONE ? members : KINDS[i].count == WHOLE;
	return 0;
}

/* The string of a number of the ENUM_ table, or of a text; 0 = unknown; INDEX_NONE if out of memory. */
static uint32_t type_of(const struct database *file, sqlite3_stmt *row, int column)
{
	uint32_t text;

	if (sqlite3_column_type(row, column) == SQLITE_TEXT)
		return ascend_db_text(file, row, column);
	if (sqlite3_column_type(row, column) != SQLITE_INTEGER)
		return 0;
	text = map_get(&file->types, (uint64_t)sqlite3_column_int64(row, column));
	return text == MAP_NONE ? 0 : text;
}

int ascend_db_describe_operation(struct database *file, sqlite3_stmt *row, int first,
				 struct device_task *task)
{
	struct model *model = file->import->model;
	struct task_detail detail = task_detail_unknown();
	uint32_t name = ascend_db_text(file, row, first), group = map_get(&file->groups, name);
	uint32_t type = type_of(file, row, first + 1);
	int64_t count = sqlite3_column_int64(row, first + 2);
	uint64_t bytes;

	if (name == INDEX_NONE || type == INDEX_NONE)
		return -ENOMEM;
	if (group != MAP_NONE) {
		detail.group = file->group_rows.row[group].ranks;
		detail.members = file->group_rows.row[group].members;
	}
	detail.input_types = type;
	if (count > 0 &&
	    !__builtin_mul_overflow((uint64_t)count, element_bytes(model_text(model, type)),
				    &bytes) &&
	    !__builtin_mul_overflow(bytes, counts_of(model_text(model, task->name), detail.members),
				    &bytes))
		task->bytes = bytes;
	if (!detail.group && !type)
		return 0;
	if (!MODEL_PUSH(&model->task_details, detail))
		return -ENOMEM;
	task->detail = model->task_details.count;
	return 0;
}
