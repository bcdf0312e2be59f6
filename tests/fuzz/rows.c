/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/rows.h"

#include <string.h>

#define END_OF_ROW 0xfe
#define END_OF_ROWS 0xff

const struct rows_table ROWS_TABLES[] = {
	{ "StringIds", { "id", "value" }, 'n' },
	{ "TARGET_INFO_SESSION_START_TIME", { "utcEpochNs" }, 'n' },
	{ "TARGET_INFO_GPU", { "id", "name", "memoryBandwidth" }, 'n' },
	{ "CUPTI_ACTIVITY_KIND_RUNTIME",
	  { "start", "end", "globalTid", "correlationId", "nameId", "returnValue", "cbid",
	    "processId", "threadId" },
	  'n',
	  'v' },
	{ "CUPTI_ACTIVITY_KIND_KERNEL",
	  { "start", "end", "deviceId", "streamId", "correlationId", "globalPid",
	    "demangledName", "shortName" },
	  'n' },
	{ "CUPTI_ACTIVITY_KIND_MEMCPY",
	  { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes",
	    "copyKind" },
	  'n',
	  'v' },
	{ "OSRT_API", { "start", "end", "globalTid", "nameId" }, 'n' },
	{ "SCHED_EVENTS", { "start", "cpu", "isSchedIn", "globalTid", "threadState" }, 'n' },
	{ "ThreadNames", { "globalTid", "nameId" }, 'n' },
	{ "STRING_IDS", { "id", "value" }, 'a' },
	{ "NPU_INFO", { "id", "name" }, 'a' },
	{ "COMPUTE_TASK_INFO",
	  { "globalTaskId", "name", "opType", "taskType", "blockNum", "mixBlockNum",
	    "inputShapes", "inputDataTypes", "inputFormats", "outputShapes",
	    "outputDataTypes", "outputFormats", "opState" },
	  'a' },
	{ "CANN_API", { "startNs", "endNs", "type", "globalTid", "connectionId", "name" }, 'a' },
	{ "COMMUNICATION_OP",
	  { "startNs", "endNs", "deviceId", "connectionId", "opName", "opId", "groupName",
	    "dataType", "count" },
	  'a' },
	{ "COMMUNICATION_TASK_INFO",
	  { "globalTaskId", "taskType", "opId", "size", "srcRank", "dstRank",
	    "transportType", "linkType", "isMaster", "planeId" },
	  'a' },
	{ "TASK",
	  { "startNs", "endNs", "deviceId", "streamId", "connectionId", "globalTaskId",
	    "taskType", "taskId", "contextId", "modelId" },
	  'a' },
	{ "rocpd_string_a", { "id", "string" }, 'r' },
	{ "rocpd_event_a", { "id", "stack_id" }, 'r' },
	{ "rocpd_info_process_a", { "id", "pid" }, 'r' },
	{ "rocpd_info_thread_a", { "id", "tid" }, 'r' },
	{ "rocpd_info_agent_a", { "id", "type", "type_index", "name", "product_name" }, 'r' },
	{ "rocpd_info_kernel_symbol_a", { "id", "display_name" }, 'r' },
	{ "rocpd_region_a", { "id", "pid", "tid", "start", "end", "name_id", "event_id" }, 'r' },
	{ "rocpd_kernel_dispatch_a",
	  { "id", "pid", "tid", "start", "end", "agent_id", "kernel_id", "queue_id",
	    "stream_id", "event_id" },
	  'r' },
	{ "rocpd_memory_copy_a",
	  { "id", "pid", "tid", "start", "end", "name_id", "dst_agent_id", "src_agent_id",
	    "size", "queue_id", "stream_id", "event_id" },
	  'r' },
	{ "rocpd_timestamp_b", { "id", "value" }, 'r' },
	{ "rocpd_track_b", { "id", "pid", "tid", "agent_id", "queue_id", "stream_id" }, 'r' },
	{ "rocpd_region_b",
	  { "id", "track_id", "start_id", "end_id", "name_id", "event_id" },
	  'r' },
	{ "rocpd_kernel_dispatch_b",
	  { "id", "track_id", "kernel_id", "start_id", "end_id", "event_id" },
	  'r' },
	{ "rocpd_string_b", { "id", "string" }, 'r' },
	{ "rocpd_event_b", { "id", "stack_id" }, 'r' },
	{ "rocpd_info_process_b", { "id", "pid" }, 'r' },
	{ "rocpd_info_thread_b", { "id", "tid" }, 'r' },
	{ "rocpd_info_agent_b", { "id", "type", "type_index", "name", "product_name" }, 'r' },
	{ "rocpd_info_kernel_symbol_b", { "id", "display_name" }, 'r' },
	{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	  { "start", "end", "deviceId", "streamId", "correlationId", "globalPid",
	    "graphId" },
	  'n' },
	{ "TARGET_INFO_CUDA_DEVICE", { "gpuId", "cudaId", "pid" }, 'n' },
	{ "CUDA_GPU_MEMORY_USAGE_EVENTS",
	  { "start", "globalPid", "deviceId", "bytes", "memoryOperationType", "memKind",
	    "address" },
	  'n' },
	{ "rocpd_memory_allocate_a",
	  { "id", "pid", "tid", "start", "end", "agent_id", "type", "level", "address", "size",
	    "queue_id", "event_id" },
	  'r' },
	{ "ENUM_HCCL_TRANSPORT_TYPE", { "id", "name" }, 'a' },
	{ "ENUM_HCCL_LINK_TYPE", { "id", "name" }, 'a' },
	{ "STEP_TIME", { "startNs", "endNs", "id" }, 'a' },
	{ "MEMORY_RECORD",
	  { "timestamp", "component", "totalAllocated", "totalReserved", "deviceId" },
	  'a' },
	{ "PYTORCH_API", { "startNs", "endNs", "globalTid", "connectionId", "name" }, 'a' },
	{ "CUPTI_ACTIVITY_KIND_MEMSET",
	  { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes" },
	  'n',
	  'v' },
	{ "META_DATA_EXPORT", { "name", "value" }, 'n' },
	{ "rocpd_memory_copy_b",
	  { "id", "track_id", "start_id", "end_id", "name_id", "dst_agent_id",
	    "src_agent_id", "size", "event_id" },
	  'r' },
	{ "rocpd_region ' \" c", { "id", "event_id" }, 'r' },
	{ "NVTX_EVENTS",
	  { "start", "end", "eventType", "globalTid", "text", "textId", "domainId" },
	  'n' },
	{ "MPI_COLLECTIVES_EVENTS", { "start", "end", "globalTid", "textId" }, 'n' },
	{ "GPU_METRICS", { "timestamp", "typeId", "metricId", "value" }, 'n' },
	{ "TARGET_INFO_GPU_METRICS", { "typeId", "metricId", "metricName" }, 'n' },
	{ "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
	  { "start", "end", "globalPid", "deviceId", "numberOfPageFaults" },
	  'n' },
	{ "ENUM_HCCL_DATA_TYPE", { "id", "name" }, 'a' },
	{ "META_DATA", { "name", "value" }, 'a' },
	{ "StringTable", { "_id_", "value" }, 'v' },
	{ "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
	  { "start", "end", "deviceId", "streamId", "correlationId", "name", "_id_" },
	  'v' },
	{ "CUPTI_ACTIVITY_KIND_MARKER",
	  { "timestamp", "id", "name", "objectKind", "objectId", "_id_" },
	  'v' },
	{ "CUPTI_ACTIVITY_KIND_DEVICE", { "id", "name" }, 'v' },
};

const unsigned int ROWS_TABLE_COUNT = sizeof(ROWS_TABLES) / sizeof(ROWS_TABLES[0]);

_Static_assert(sizeof(ROWS_TABLES) / sizeof(ROWS_TABLES[0]) <= 64, "tables are bits of a number");

/* Makes a cell: a small number as an id, an instant close to others, or any other value. */
static struct cell make_cell(uint8_t kind, struct input *in)
{
	struct cell cell = { .type = SQLITE_INTEGER };
	uint64_t bits;

	switch (kind & 7) {
	case 0: cell.integer = input_byte(in); break;
	case 1: cell.integer = 1700000000000000000 + (int64_t)input_number(in, 3); break;
	case 2:
		cell.type = SQLITE_TEXT;
		cell.bytes = input_take(in, input_byte(in));
		break;
	case 3: cell.integer = (int64_t)input_number(in, 8); break;
	case 4: cell.type = SQLITE_NULL; break;
	case 5:
		cell.type = SQLITE_FLOAT;
		bits = input_number(in, 8);
		memcpy(&cell.real, &bits, sizeof(cell.real));
		break;
	case 6:
		cell.type = SQLITE_BLOB;
		cell.bytes = input_take(in, input_byte(in) & 15);
		break;
	default: /* a thread as in the tables: process in the upper bits, thread in the lower bits */
		cell.integer = (int64_t)input_byte(in) << (kind & 8 ? 24 : 32);
		cell.integer |= input_byte(in);
		break;
	}
	return cell;
}

/* Returns the table with this number if it is one of the owner's, else another of the owner's tables. */
static uint8_t table_of(uint8_t number, char owner)
{
	unsigned int table = number % ROWS_TABLE_COUNT;

	while (owner && ROWS_TABLES[table].owner != owner && ROWS_TABLES[table].other != owner)
		table = (table + 1) % ROWS_TABLE_COUNT;
	return (uint8_t)table;
}

static void begin_table(struct rows *rows, uint8_t table, struct input *in)
{
	uint8_t lacks = input_byte(in);

	rows->made |= 1ull << table;
	rows->first[table] = ROWS_NONE;
	/* Mostly no column is missing. */
	rows->without[table] = lacks & 0x80 ? (uint16_t)(input_byte(in) << 7 | (lacks & 0x7f)) : 0;
}

static void add_row(struct rows *rows, uint8_t table, struct input *in)
{
	struct row *row = &rows->row[rows->count];
	bool ended = false;

	*row = (struct row){ .table = table, .next = ROWS_NONE };
	for (int i = 0; i < ROWS_COLUMNS && ROWS_TABLES[table].columns[i]; i++) {
		row->cells[i].type = SQLITE_NULL;
		if (rows->without[table] & 1u << i)
			continue;
		ended = ended || !in->size || *in->data == END_OF_ROW;
		if (!ended)
			row->cells[i] = make_cell(input_byte(in), in);
	}
	if (in->size && *in->data == END_OF_ROW)
		input_byte(in);
	if (rows->first[table] == ROWS_NONE)
		rows->first[table] = (uint8_t)rows->count;
	else
		rows->row[rows->last[table]].next = (uint8_t)rows->count;
	rows->last[table] = (uint8_t)rows->count++;
}

void rows_make(struct rows *rows, char owner, struct input *in)
{
	rows->made = 0;
	rows->count = 0;
	while (rows->count < ROWS_MAX && in->size) {
		uint8_t number = input_byte(in), table;

		if (number == END_OF_ROWS)
			break;
		table = table_of(number, owner);
		if (!(rows->made & 1ull << table))
			begin_table(rows, table, in);
		add_row(rows, table, in);
	}
}
