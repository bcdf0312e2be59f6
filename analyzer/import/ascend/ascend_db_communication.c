/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of communication operations in Ascend's databases. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "analyzer/import/ascend/ascend_db.h"

/* The string of a number of an ENUM_ table, which is in the map; a text is used as it is. */
static uint32_t enum_of(const struct database *file, const struct map *texts, sqlite3_stmt *row,
			int column)
{
	uint32_t text;

	if (sqlite3_column_type(row, column) != SQLITE_INTEGER)
		return ascend_db_text(file, row, column);
	text = map_get(texts, (uint64_t)sqlite3_column_int64(row, column));
	return text == MAP_NONE ? 0 : text;
}

static int put_enum(struct database *file, struct map *texts, sqlite3_stmt *row)
{
	uint32_t text =
		model_string(file->import->model, (const char *)sqlite3_column_text(row, 1));

	if (text == INDEX_NONE || !map_put(texts, (uint64_t)sqlite3_column_int64(row, 0), text))
		return -ENOMEM;
	return 0;
}

int ascend_db_transport(void *context, sqlite3_stmt *row)
{
	struct database *file = context;

	return put_enum(file, &file->transports, row);
}

int ascend_db_link(void *context, sqlite3_stmt *row)
{
	struct database *file = context;

	return put_enum(file, &file->links, row);
}

int ascend_db_type(void *context, sqlite3_stmt *row)
{
	struct database *file = context;

	return put_enum(file, &file->types, row);
}

int ascend_db_only_device(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	int64_t least = sqlite3_column_int64(row, 0), greatest = sqlite3_column_int64(row, 1);

	if (sqlite3_column_type(row, 0) == SQLITE_INTEGER)
		file->only_device = least == greatest ? least : ASCEND_DB_SEVERAL;
	return 0;
}

/* Columns: opId, deviceId. */
static int on_place(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	int64_t device = sqlite3_column_int64(row, 1);

	if (sqlite3_column_type(row, 1) != SQLITE_INTEGER || device < 0 || device >= INDEX_NONE)
		return 0;
	return map_put(&file->places, (uint64_t)sqlite3_column_int64(row, 0), (uint32_t)device)
		       ? 0
		       : -ENOMEM;
}

int ascend_db_place_operations(struct database *file)
{
	static const char QUERY[] =
		"SELECT opId, min(deviceId) FROM COMMUNICATION_TASK_INFO JOIN TASK"
		" USING (globalTaskId) GROUP BY opId HAVING min(deviceId) = max(deviceId)";
	char damage[256];

	if (!sqlite_file_has(file->db, "COMMUNICATION_TASK_INFO", "opId") ||
	    !sqlite_file_has(file->db, "COMMUNICATION_TASK_INFO", "globalTaskId") ||
	    !sqlite_file_has(file->db, "TASK", "globalTaskId"))
		return 0;
	return sqlite_file_each(file->db, QUERY, on_place, file, damage, sizeof(damage));
}

int64_t ascend_db_device_of_operation(const struct database *file, sqlite3_stmt *row, int device,
				      int operation)
{
	int64_t number = sqlite3_column_int64(row, device);
	uint32_t place = MAP_NONE;

	if (sqlite3_column_type(row, device) == SQLITE_INTEGER && number >= 0)
		return number;
	if (sqlite3_column_type(row, operation) != SQLITE_NULL)
		place = map_get(&file->places, (uint64_t)sqlite3_column_int64(row, operation));
	return place == MAP_NONE ? file->only_device : place;
}

static uint32_t rank_of(sqlite3_stmt *row, int column)
{
	int64_t rank = sqlite3_column_int64(row, column);

	return sqlite3_column_type(row, column) != SQLITE_INTEGER || rank < 0 || rank > INT32_MAX
		       ? INDEX_NONE
		       : (uint32_t)rank;
}

/*
 * Columns: globalTaskId, taskType, opId, size, srcRank, dstRank, transportType, linkType,
 * isMaster, planeId.
 */
int ascend_db_part(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	int64_t bytes = sqlite3_column_int64(row, 3);
	struct part part = {
		.type = ascend_db_text(file, row, 1),
		.operation = (uint64_t)sqlite3_column_int64(row, 2),
		.bytes = bytes > 0 ? (uint64_t)bytes : 0,
		.source = rank_of(row, 4),
		.destination = rank_of(row, 5),
		.transport = enum_of(file, &file->transports, row, 6),
		.link = enum_of(file, &file->links, row, 7),
		/* Older files lack this column: the first plane is the master then. */
		.master = sqlite3_column_type(row, 8) == SQLITE_NULL
				  ? sqlite3_column_int64(row, 9) == 0
				  : sqlite3_column_int64(row, 8) != 0,
	};

	if (part.type == INDEX_NONE || part.transport == INDEX_NONE || part.link == INDEX_NONE ||
	    !MODEL_PUSH(&file->parts, part) ||
	    !map_put(&file->communication, (uint64_t)sqlite3_column_int64(row, 0),
		     file->parts.count - 1))
		return -ENOMEM;
	return 0;
}

/* Adds the times of an operation; its parts will be added to them. */
int ascend_db_add_operation(struct database *file, const struct device_task *task, uint64_t id)
{
	struct model *model = file->import->model;
	struct communication_time time = { .elapsed_ns = task->end_ns - task->start_ns,
					   .device = task->device,
					   .operation = task->name };

	if (!MODEL_PUSH(&model->communication_times, time) ||
	    !map_put(&file->operations, id, model->communication_times.count - 1))
		return -ENOMEM;
	return 0;
}

/* Waits for other ranks are among the notifies; records of events move nothing either. */
static bool is_wait(const struct model *model, const struct part *part)
{
	return strcasestr(model_text(model, part->type), "notify_wait") != NULL;
}

/* Is the part a transfer to another rank: not inside a chip, and not a record? */
static bool is_transfer(const struct model *model, const struct part *part)
{
	return part->bytes && !strcasestr(model_text(model, part->type), "notify") &&
	       strcasecmp(model_text(model, part->transport), "LOCAL") != 0 &&
	       strcasecmp(model_text(model, part->link), "ON_CHIP") != 0;
}

static void add_to_operation(struct database *file, const struct part *part, bool wait, uint64_t ns)
{
	uint32_t row = map_get(&file->operations, part->operation);
	struct communication_time *time;

	if (row == MAP_NONE || !part->master)
		return;
	time = &file->import->model->communication_times.row[row];
	if (wait && !time->transit_ns)
		time->synchronization_ns += ns;
	if (wait)
		time->wait_ns += ns;
	else
		time->transit_ns += ns;
}

/* Adds a part's task; parts come in the order in which they ran. */
int ascend_db_add_part(struct database *file, const struct device_task *task,
		       const struct part *part)
{
	struct model *model = file->import->model;
	uint32_t row = map_get(&file->operations, part->operation);
	struct link_use use = { .ns = task->end_ns - task->start_ns,
				.bytes = part->bytes,
				.device = task->device,
				.transport = part->link ? part->link : part->transport,
				.source = part->source,
				.destination = part->destination,
				.count = 1,
				.wait = is_wait(model, part) };

	if (!use.wait && !is_transfer(model, part))
		return 0;
	if (row != MAP_NONE)
		use.operation = model->communication_times.row[row].operation;
	if (use.wait)
		use.bytes = 0;
	add_to_operation(file, part, use.wait, use.ns);
	return MODEL_PUSH(&model->link_uses, use) ? 0 : -ENOMEM;
}

/* Computes the remaining times of operations after all their parts are known. */
void ascend_db_finish_operations(const struct database *file, uint32_t first)
{
	struct model *model = file->import->model;

	/* Without parts only the durations of operations are known, and their tasks have these. */
	if (!file->parts.count)
		model->communication_times.count = first;
	for (uint32_t i = first; i < model->communication_times.count; i++) {
		struct communication_time *time = &model->communication_times.row[i];
		uint64_t used_ns = time->transit_ns + time->wait_ns;

		time->idle_ns = time->elapsed_ns > used_ns ? time->elapsed_ns - used_ns : 0;
	}
}
