/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_db.h - state of reading an Ascend database; private to ascend_db*.c. */
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
	bool master; /* part of the plane whose parts follow each other: their times add up to the operation's */
};

/* A group of ranks of collectives. */
struct ascend_group {
	uint32_t ranks; /* string: "[0,1]" */
	uint32_t members;
};

#define ASCEND_DB_NO_DEVICE (-1)
#define ASCEND_DB_SEVERAL (-2)

struct database {
	struct import *import;
	uint32_t first_device; /* rows of devices from here on are the file's */
	int64_t only_device; /* the number of the file's only device, or one of the two constants above */
	int64_t shift_ns; /* shift of its times against CLOCK_MONOTONIC_RAW; 0 = unknown */
	struct import_rows rows;
	sqlite3 *db;
	struct map strings; /* STRING_IDS.id -> string of the model */
	struct map device_names;
	struct map ranks; /* device number -> rank */
	struct map compute; /* globalTaskId -> row of computes */
	MODEL_ARRAY(struct compute) computes;
	struct map
		communication; /* globalTaskId of tasks that are parts of an operation -> parts */
	struct map transports; /* ENUM_HCCL_TRANSPORT_TYPE.id -> string; the next: the same for links */
	struct map links;
	struct map types; /* ENUM_HCCL_DATA_TYPE.id -> string */
	struct map groups; /* string: name of a group -> row of groups */
	MODEL_ARRAY(struct ascend_group) group_rows;
	struct map operations; /* COMMUNICATION_OP.opId -> row of communication_times */
	struct map
		places; /* opId -> device of the operation's parts; for files of several devices */
	MODEL_ARRAY(struct part) parts;
	struct map launches; /* connection -> row of calls */
	MODEL_ARRAY(struct api_call) calls;
};

/*
 * The clock of the file's instants (Profbpf__DeviceClock), and the instant in a column, with texts converted:
 * nanoseconds since 1970 if the raw times are unknown. 0 = absent.
 */
uint8_t ascend_db_clock(const struct database *file);
uint64_t ascend_db_instant(const struct database *file, sqlite3_stmt *row, int column);

/*
 * The string of a column: names are numbers of STRING_IDS; a text is used as it is. Returns INDEX_NONE if out of
 * memory.
 */
uint32_t ascend_db_text(const struct database *file, sqlite3_stmt *row, int column);

/* Callbacks for rows of tables; return 0 or -ENOMEM. */
int ascend_db_transport(void *context, sqlite3_stmt *row);
int ascend_db_link(void *context, sqlite3_stmt *row);
int ascend_db_type(void *context, sqlite3_stmt *row);
int ascend_db_part(void *context, sqlite3_stmt *row);

/* Groups of ranks of META_DATA, by HCCL's names of them; to be read before collectives. */
int ascend_db_group(void *context, sqlite3_stmt *row);

/*
 * ascend_db_describe_operation - sets size, type and group of a collective, as far as the file has them
 *
 * Columns of @row from @first on: groupName, dataType, count. Returns 0 or -ENOMEM.
 */
int ascend_db_describe_operation(struct database *file, sqlite3_stmt *row, int first,
				 struct device_task *task);

/* Columns: smallest and largest deviceId. */
int ascend_db_only_device(void *context, sqlite3_stmt *row);

/* Finds the device of each operation by the tasks that are its parts. Returns 0, -ENOMEM or -EBADMSG. */
int ascend_db_place_operations(struct database *file);

/*
 * The device of an operation: from its own column, which torch_npu omits or leaves empty, else the device of its
 * parts, else the file's only device. Negative: unknown.
 */
int64_t ascend_db_device_of_operation(const struct database *file, sqlite3_stmt *row, int device,
				      int operation);

/* Adds an operation, before its parts; @id: of COMMUNICATION_OP. Returns 0 or -ENOMEM. */
int ascend_db_add_operation(struct database *file, const struct device_task *task, uint64_t id);

/* Adds a part with its task; the caller adds parts in the order in which they ran. Returns 0 or -ENOMEM. */
int ascend_db_add_part(struct database *file, const struct device_task *task,
		       const struct part *part);

/* Callbacks for the tables of torch_npu: steps, memory, groups of ranks; return 0 or -ENOMEM. */
int ascend_db_step(void *context, sqlite3_stmt *row);
int ascend_db_memory(void *context, sqlite3_stmt *row);
int ascend_db_meta(void *context, sqlite3_stmt *row);

/*
 * Computes the remaining times of operations after the last part. @first: the file's first row of
 * communication_times.
 */
void ascend_db_finish_operations(const struct database *file, uint32_t first);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_DB_H */
