/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_db.h - an Ascend database while it is read; for ascend_db*.c alone.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_DB_H
#define PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/sqlite_file.h"

struct api_call {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t connection;
	uint64_t global; /* pid << 32 | tid */
	uint32_t name;
	int64_t level;
};

/* A row of COMPUTE_TASK_INFO. */
struct compute {
	struct task_detail detail;
	uint32_t name;
	uint32_t type;
	uint32_t core;
};

/* A row of COMMUNICATION_TASK_INFO: a part of an operation. */
struct part {
	uint64_t operation; /* COMMUNICATION_OP.opId */
	uint64_t bytes;
	uint32_t source; /* ranks; INDEX_NONE = unknown */
	uint32_t destination;
	uint32_t transport; /* string */
	uint32_t link; /* string */
	uint32_t type; /* string: "Notify_Wait", "Memcpy" */
	bool master; /* of the plane whose parts follow each other: they add up to the operation */
};

/* Who takes part in collectives. */
struct ascend_group {
	uint32_t ranks; /* string: "[0,1]" */
	uint32_t members;
};

#define ASCEND_DB_NO_DEVICE (-1)
#define ASCEND_DB_SEVERAL (-2)

struct database {
	struct import *import;
	uint32_t first_device; /* rows of devices from this one on are the file's */
	int64_t only_device; /* the number of the file's only one, or one of the two above */
	int64_t shift_ns; /* of its times against CLOCK_MONOTONIC_RAW; 0 = unknown */
	struct import_rows rows;
	sqlite3 *db;
	struct map strings; /* STRING_IDS.id -> string of the model */
	struct map device_names;
	struct map ranks; /* of devices, by their number */
	struct map compute; /* globalTaskId -> row of computes */
	MODEL_ARRAY(struct compute) computes;
	struct map
		communication; /* globalTaskId of tasks that are parts of an operation -> parts */
	struct map transports; /* ENUM_HCCL_TRANSPORT_TYPE.id -> string, and of links */
	struct map links;
	struct map types; /* ENUM_HCCL_DATA_TYPE.id -> string */
	struct map groups; /* string: name of a group -> row of groups */
	MODEL_ARRAY(struct ascend_group) group_rows;
	struct map operations; /* COMMUNICATION_OP.opId -> row of communication_times */
	struct map
		places; /* opId -> device of the operation's parts; of files of several devices */
	MODEL_ARRAY(struct part) parts;
	struct map launches; /* connection -> row of calls */
	MODEL_ARRAY(struct api_call) calls;
};

/*
 * What clock the file's instants are of (Profbpf__DeviceClock), and one of them: nanoseconds since 1970
 * where it is not known what raw ones they were made of. 0 = not told. Texts are converted.
 */
uint8_t ascend_db_clock(const struct database *file);
uint64_t ascend_db_instant(const struct database *file, sqlite3_stmt *row, int column);

/* Names are numbers of STRING_IDS; a text in their place stands for itself. INDEX_NONE without memory. */
uint32_t ascend_db_text(const struct database *file, sqlite3_stmt *row, int column);

/* Rows of tables; 0 or -ENOMEM. */
int ascend_db_transport(void *context, sqlite3_stmt *row);
int ascend_db_link(void *context, sqlite3_stmt *row);
int ascend_db_type(void *context, sqlite3_stmt *row);
int ascend_db_part(void *context, sqlite3_stmt *row);

/* Groups of ranks of META_DATA, by the names that HCCL gives them; before collectives. */
int ascend_db_group(void *context, sqlite3_stmt *row);

/*
 * ascend_db_describe_operation - size, type and group of a collective, as far as the file tells them
 *
 * Columns of @row from @first on: groupName, dataType, count. Returns 0 or -ENOMEM.
 */
int ascend_db_describe_operation(struct database *file, sqlite3_stmt *row, int first,
				 struct device_task *task);

/* Columns: least and greatest deviceId. */
int ascend_db_only_device(void *context, sqlite3_stmt *row);

/* Which device each operation ran on, by the tasks that are its parts. 0, -ENOMEM or -EBADMSG. */
int ascend_db_place_operations(struct database *file);

/*
 * The device of an operation: its own column, which torch_npu lacks or leaves empty, else that of its
 * parts, else the file's only one. Negative: it is not told.
 */
int64_t ascend_db_device_of_operation(const struct database *file, sqlite3_stmt *row, int device,
				      int operation);

/* An operation whose parts are to follow; @id: of COMMUNICATION_OP. 0 or -ENOMEM. */
int ascend_db_add_operation(struct database *file, const struct device_task *task, uint64_t id);

/* The task of a part; they come in the order in which they ran. 0 or -ENOMEM. */
int ascend_db_add_part(struct database *file, const struct device_task *task,
		       const struct part *part);

/* Steps, memory and groups of ranks that torch_npu adds; 0 or -ENOMEM. */
int ascend_db_step(void *context, sqlite3_stmt *row);
int ascend_db_memory(void *context, sqlite3_stmt *row);
int ascend_db_meta(void *context, sqlite3_stmt *row);

/* After the last part: what is left of operations. @first: row of the file's first one. */
void ascend_db_finish_operations(const struct database *file, uint32_t first);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_DB_H */
