/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/input.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyzer/model/model.h"

#define COLUMNS_MAX 12
#define ROWS_MAX 64 /* of a database: more say nothing new and take long */

void check(bool ok)
{
	if (!ok)
		abort();
}

uint8_t input_byte(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

struct input input_take(struct input *in, size_t size)
{
	struct input part = { in->data, size < in->size ? size : in->size };

	in->data += part.size;
	in->size -= part.size;
	return part;
}

uint64_t input_number(struct input *in, unsigned int bytes)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < bytes; i++)
		number |= (uint64_t)input_byte(in) << (8 * i);
	return number;
}

void input_write_file(const char *name, struct input bytes, bool packed)
{
	if (packed) {
		gzFile out = gzopen(name, "wb1");

		check(out && gzwrite(out, bytes.data, (unsigned int)bytes.size) == (int)bytes.size);
		check(gzclose(out) == Z_OK);
	} else {
		FILE *out = fopen(name, "w");

		check(out != NULL);
		check(!bytes.size || fwrite(bytes.data, 1, bytes.size, out) == bytes.size);
		check(!fclose(out));
	}
}

/* What the importers of databases ask for, and some that they do not know. */
static const struct {
	const char *table;
	const char *columns[COLUMNS_MAX];
} TABLES[] = {
	{ "StringIds", { "id", "value" } },
	{ "TARGET_INFO_SESSION_START_TIME", { "utcEpochNs" } },
	{ "TARGET_INFO_GPU", { "id", "name" } },
	{ "CUPTI_ACTIVITY_KIND_RUNTIME",
	  { "start", "end", "globalTid", "correlationId", "nameId", "returnValue" } },
	{ "CUPTI_ACTIVITY_KIND_KERNEL",
	  { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName",
	    "shortName" } },
	{ "CUPTI_ACTIVITY_KIND_MEMCPY",
	  { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes" } },
	{ "OSRT_API", { "start", "end", "globalTid", "nameId" } },
	{ "SCHED_EVENTS", { "start", "cpu", "isSchedIn", "globalTid", "threadState" } },
	{ "ThreadNames", { "globalTid", "nameId" } },
	{ "STRING_IDS", { "id", "value" } },
	{ "NPU_INFO", { "id", "name" } },
	{ "COMPUTE_TASK_INFO", { "globalTaskId", "name" } },
	{ "CANN_API", { "startNs", "endNs", "type", "globalTid", "connectionId", "name" } },
	{ "COMMUNICATION_OP", { "startNs", "endNs", "deviceId", "connectionId", "opName" } },
	{ "COMMUNICATION_TASK_INFO", { "globalTaskId" } },
	{ "TASK",
	  { "startNs", "endNs", "deviceId", "streamId", "connectionId", "globalTaskId",
	    "taskType" } },
	/* Tables of one run each, of schema 3 and of schema 4. */
	{ "rocpd_string_a", { "id", "string" } },
	{ "rocpd_event_a", { "id", "stack_id" } },
	{ "rocpd_info_process_a", { "id", "pid" } },
	{ "rocpd_info_thread_a", { "id", "tid" } },
	{ "rocpd_info_agent_a", { "id", "type", "type_index", "name", "product_name" } },
	{ "rocpd_info_kernel_symbol_a", { "id", "display_name" } },
	{ "rocpd_region_a", { "id", "pid", "tid", "start", "end", "name_id", "event_id" } },
	{ "rocpd_kernel_dispatch_a",
	  { "id", "pid", "tid", "start", "end", "agent_id", "kernel_id", "queue_id", "stream_id",
	    "event_id" } },
	{ "rocpd_memory_copy_a",
	  { "id", "pid", "tid", "start", "end", "name_id", "dst_agent_id", "src_agent_id", "size",
	    "queue_id", "stream_id", "event_id" } },
	{ "rocpd_timestamp_b", { "id", "value" } },
	{ "rocpd_track_b", { "id", "pid", "tid", "agent_id", "queue_id", "stream_id" } },
	{ "rocpd_region_b", { "id", "track_id", "start_id", "end_id", "name_id", "event_id" } },
	{ "rocpd_kernel_dispatch_b",
	  { "id", "track_id", "kernel_id", "start_id", "end_id", "event_id" } },
	{ "rocpd_string_b", { "id", "string" } },
	{ "rocpd_event_b", { "id", "stack_id" } },
	{ "rocpd_info_process_b", { "id", "pid" } },
	{ "rocpd_info_thread_b", { "id", "tid" } },
	{ "rocpd_info_agent_b", { "id", "type", "type_index", "name" } },
	{ "rocpd_info_kernel_symbol_b", { "id", "display_name" } },
	{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	  { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId" } },
	{ "TARGET_INFO_CUDA_DEVICE", { "gpuId", "cudaId", "pid" } },
	{ "CUDA_GPU_MEMORY_USAGE_EVENTS",
	  { "start", "globalPid", "deviceId", "bytes", "memoryOperationType", "memKind", "address" } },
	{ "rocpd_memory_allocate_a",
	  { "id", "pid", "tid", "start", "end", "agent_id", "type", "level", "address", "size",
	    "queue_id", "event_id" } },
};

#define TABLE_COUNT (sizeof(TABLES) / sizeof(TABLES[0]))
static void run_sql(sqlite3 *db, sqlite3_str *text)
{
	char *statement = sqlite3_str_finish(text);

	check(statement && sqlite3_exec(db, statement, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_free(statement);
}

/* A column is left out if its bit in @without, which has seven, is set. */
static void make_table(sqlite3 *db, size_t table, uint8_t without)
{
	sqlite3_str *text = sqlite3_str_new(db);

	sqlite3_str_appendf(text, "CREATE TABLE %s (unknown", TABLES[table].table);
	for (size_t i = 0; i < COLUMNS_MAX && TABLES[table].columns[i]; i++)
		if (!(without & 1u << i))
			sqlite3_str_appendf(text, ", %s", TABLES[table].columns[i]);
	sqlite3_str_appendall(text, ")");
	run_sql(db, text);
}

/* Small numbers as ids, instants close to each other, and whatever else fits into a cell. */
static void bind_value(sqlite3_stmt *row, int place, struct input *in)
{
	uint8_t kind = input_byte(in);
	struct input text;
	double real;
	uint64_t bits;

	switch (kind & 7) {
	case 0: sqlite3_bind_int64(row, place, input_byte(in)); break;
	case 1:
		sqlite3_bind_int64(row, place, 1700000000000000000 + (int64_t)input_number(in, 3));
		break;
	case 2:
		text = input_take(in, input_byte(in));
		sqlite3_bind_text(row, place, (const char *)text.data, (int)text.size,
				  SQLITE_TRANSIENT);
		break;
	case 3: sqlite3_bind_int64(row, place, (int64_t)input_number(in, 8)); break;
	case 4: break; /* NULL */
	case 5:
		bits = input_number(in, 8);
		memcpy(&real, &bits, sizeof(real));
		sqlite3_bind_double(row, place, real);
		break;
	case 6:
		text = input_take(in, input_byte(in) & 15);
		sqlite3_bind_blob(row, place, text.data, (int)text.size, SQLITE_TRANSIENT);
		break;
	default: /* a thread as the tables have it: process above, thread below */
		bits = (uint64_t)input_byte(in) << (kind & 8 ? 24 : 32);
		bits |= input_byte(in);
		sqlite3_bind_int64(row, place, (int64_t)bits);
		break;
	}
}

static void add_row(sqlite3 *db, size_t table, uint8_t without, struct input *in)
{
	sqlite3_str *text = sqlite3_str_new(db);
	sqlite3_stmt *row = NULL;
	char *statement;
	int columns = 1;

	sqlite3_str_appendf(text, "INSERT INTO %s VALUES (0", TABLES[table].table);
	for (size_t i = 0; i < COLUMNS_MAX && TABLES[table].columns[i]; i++)
		if (!(without & 1u << i)) {
			sqlite3_str_appendall(text, ", ?");
			columns++;
		}
	sqlite3_str_appendall(text, ")");
	statement = sqlite3_str_finish(text);
	check(statement && sqlite3_prepare_v2(db, statement, -1, &row, NULL) == SQLITE_OK);
	for (int i = 1; i < columns; i++)
		bind_value(row, i, in);
	check(sqlite3_step(row) == SQLITE_DONE);
	sqlite3_finalize(row);
	sqlite3_free(statement);
}

/* Bits to flip in the finished file, in pairs of a place and a byte; most inputs have none. */
static void damage(unsigned char *bytes, sqlite3_int64 size, struct input *in)
{
	while (in->size >= 3) {
		uint64_t place = input_number(in, 2);

		bytes[place % (uint64_t)size] ^= input_byte(in);
	}
}

/* Small pages: less to write, and more of them. */
void input_write_database(const char *name, struct input *in)
{
	uint8_t without[TABLE_COUNT];
	bool made[TABLE_COUNT] = { false };
	sqlite3_int64 size = 0;
	unsigned char *bytes;
	sqlite3 *db;

	check(sqlite3_open(":memory:", &db) == SQLITE_OK);
	check(sqlite3_exec(db, "PRAGMA page_size = 512; BEGIN", NULL, NULL, NULL) == SQLITE_OK);
	for (int i = 0; i < ROWS_MAX && in->size; i++) {
		size_t table = input_byte(in);

		if (table == UCHAR_MAX)
			break;
		table %= TABLE_COUNT;
		if (!made[table]) {
			uint8_t lacks = input_byte(in);

			/* Most often none. */
			without[table] = lacks & 0x80 ? lacks & 0x7f : 0;
			make_table(db, table, without[table]);
			made[table] = true;
		}
		add_row(db, table, without[table], in);
	}
	check(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
	bytes = sqlite3_serialize(db, "main", &size, 0);
	if (bytes && size)
		damage(bytes, size, in);
	input_write_file(name, (struct input){ bytes, (size_t)size }, false);
	sqlite3_free(bytes);
	sqlite3_close(db);
}

/* Rows that refer to rows which are not there would be read beyond arrays. */
void check_model(const struct model *model)
{
	for (uint32_t i = 0; i < model->threads.count; i++)
		check(model->threads.row[i].process < model->processes.count);
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];

		check(call->thread < model->threads.count);
		check(call->function < model->functions.count && call->end_ns >= call->start_ns);
	}
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		check(task->device < model->devices.count);
		check(task->thread == INDEX_NONE || task->thread < model->threads.count);
		check(task->flags & MODEL_TASK_UNTIMED || task->end_ns >= task->start_ns);
	}
	for (uint32_t i = 0; i < model->findings.count; i++)
		check(model->findings.row[i].file < model->imports.count);
}
