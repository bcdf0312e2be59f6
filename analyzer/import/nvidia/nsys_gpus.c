/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/nvidia/nsys_gpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/import/readers/sqlite_column.h"
#include "analyzer/import/readers/sqlite_file.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
#define MEMORY "CUDA_GPU_MEMORY_USAGE_EVENTS"

/* ENUM_CUDA_MEM_KIND and ENUM_CUDA_DEV_MEM_EVENT_OPER */
enum { KIND_PAGEABLE, KIND_PINNED, KIND_DEVICE, KIND_UNKNOWN = 7 };
enum { OPERATION_ALLOCATION, OPERATION_DEALLOCATION };

struct memory {
	struct nsys_gpus *gpus;
	int64_t epoch_ns;
};

/* Columns: id, name, memoryBandwidth. */
static int on_gpu(void *context, sqlite3_stmt *row)
{
	struct nsys_gpus *gpus = context;
	const char *name = (const char *)sqlite3_column_text(row, 1);
	struct nsys_gpu gpu = { .name = model_string(gpus->rows->import->model, name) };
	int64_t bandwidth = sqlite3_column_int64(row, 2);

	gpu.bandwidth = bandwidth > 0 ? (double)bandwidth : 0;
	if (gpu.name == INDEX_NONE || !MODEL_PUSH(&gpus->gpus, gpu) ||
	    !map_put(&gpus->known, (uint64_t)sqlite3_column_int64(row, 0), gpus->gpus.count - 1))
		return -ENOMEM;
	return 0;
}

static uint64_t cuda_key(uint64_t number, uint64_t pid)
{
	return number << 32 | (uint32_t)pid;
}

/* Columns: cudaId, pid, gpuId. */
static int on_cuda_device(void *context, sqlite3_stmt *row)
{
	struct nsys_gpus *gpus = context;
	uint64_t number = (uint64_t)sqlite3_column_int64(row, 0);
	uint64_t pid = (uint64_t)sqlite3_column_int64(row, 1);
	int64_t gpu = sqlite3_column_int64(row, 2);

	if (sqlite3_column_type(row, 2) == SQLITE_NULL || gpu < 0 || gpu >= MAP_NONE)
		return 0;
	return map_put(&gpus->of_cuda, cuda_key(number, pid), (uint32_t)gpu) ? 0 : -ENOMEM;
}

int nsys_gpus_read(struct nsys_gpus *gpus, sqlite3 *db, struct import_rows *rows)
{
	int err = 0;

	gpus->rows = rows;
	if (sqlite_file_has(db, "TARGET_INFO_GPU", "name"))
		err = sqlite_file_read(rows->import, db,
				       sqlite_file_has(db, "TARGET_INFO_GPU", "memoryBandwidth")
					       ? "SELECT id, name, memoryBandwidth FROM TARGET_INFO_GPU"
					       : "SELECT id, name, 0 FROM TARGET_INFO_GPU",
				       on_gpu, gpus);
	if (!err && sqlite_file_has(db, "TARGET_INFO_CUDA_DEVICE", "gpuId"))
		err = sqlite_file_read(rows->import, db,
				       "SELECT cudaId, pid, gpuId FROM TARGET_INFO_CUDA_DEVICE",
				       on_cuda_device, gpus);
	return err;
}

void nsys_gpus_free(struct nsys_gpus *gpus)
{
	map_free(&gpus->known);
	map_free(&gpus->of_cuda);
	free(gpus->gpus.row);
}

static uint64_t number_of(const struct nsys_gpus *gpus, uint64_t device, uint32_t pid)
{
	uint32_t gpu = map_get(&gpus->of_cuda, cuda_key(device, pid));

	return gpu == MAP_NONE ? device : gpu;
}

uint32_t nsys_gpu_row(struct nsys_gpus *gpus, uint64_t device, uint32_t pid)
{
	struct model *model = gpus->rows->import->model;
	uint64_t number = number_of(gpus, device, pid);
	uint32_t process = pid ? import_process(gpus->rows, pid) : INDEX_NONE;
	uint32_t known = map_get(&gpus->known, number), row;

	row = import_device(gpus->rows, number, process,
			    known == MAP_NONE ? "unnamed"
					      : model_text(model, gpus->gpus.row[known].name),
			    "gpu", "nsys", CLOCK);
	if (row != INDEX_NONE && known != MAP_NONE)
		model->devices.row[row].peak_bandwidth = gpus->gpus.row[known].bandwidth;
	return row;
}

/* Nsight's labels. */
static const char *kind_name(int64_t kind)
{
	static const char *const NAMES[KIND_UNKNOWN] = {
		"Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"
	};

	return kind >= 0 && kind < KIND_UNKNOWN ? NAMES[kind] : NULL;
}

/* Columns: start, globalPid, deviceId, address, bytes, memKind, memoryOperationType. */
static int on_memory(void *context, sqlite3_stmt *row)
{
	const struct memory *memory = context;
	struct import *import = memory->gpus->rows->import;
	uint32_t pid = (uint32_t)((uint64_t)sqlite3_column_int64(row, 1) >> 24 & 0xffffff);
	int64_t kind = sqlite3_column_int64(row, 5), operation = sqlite3_column_int64(row, 6), ns;
	struct memory_record record = {
		.bytes = sqlite3_column_int64(row, 4),
		.address = (uint64_t)sqlite3_column_int64(row, 3),
		.device = (uint32_t)number_of(memory->gpus, (uint64_t)sqlite3_column_int64(row, 2), pid),
		.process = pid ? import_process(memory->gpus->rows, pid) : INDEX_NONE,
		.file = import->file,
		.component = model_string(import->model, kind_name(kind)),
		.flags = MODEL_MEMORY_CHANGE,
	};

	if (record.component == INDEX_NONE)
		return -ENOMEM;
	if (record.bytes < 0 ||
	    (operation != OPERATION_ALLOCATION && operation != OPERATION_DEALLOCATION) ||
	    __builtin_add_overflow(sqlite_column_instant(row, 0), memory->epoch_ns, &ns) || ns < 1)
		return import_finding(import, "memory records that make no sense", NULL);
	if (operation == OPERATION_DEALLOCATION)
		record.bytes = -record.bytes;
	if (kind == KIND_PAGEABLE || kind == KIND_PINNED)
		record.flags |= MODEL_MEMORY_HOST;
	record.ts_ns = import_host_time(memory->gpus->rows, CLOCK, (uint64_t)ns);
	if (!record.ts_ns)
		return import_finding(import, "memory records outside of the trace: no clock snapshot of the "
					      "recording reaches them (give the device file of the same run)", NULL);
	return MODEL_PUSH(&import->model->memory_records, record) ? 0 : -ENOMEM;
}

static const char *column_or(sqlite3 *db, const char *column, const char *absent)
{
	return sqlite_file_has(db, MEMORY, column) ? column : absent;
}

int nsys_memory_read(struct nsys_gpus *gpus, sqlite3 *db, int64_t epoch_ns)
{
	struct memory memory = { gpus, epoch_ns };
	char query[256];

	if (!sqlite_file_has(db, MEMORY, "memoryOperationType") ||
	    !sqlite_file_has(db, MEMORY, "bytes") || !sqlite_file_has(db, MEMORY, "deviceId"))
		return 0;
	snprintf(query, sizeof(query),
		 "SELECT start, %s, deviceId, %s, bytes, %s, memoryOperationType FROM " MEMORY,
		 column_or(db, "globalPid", "0"), column_or(db, "address", "0"),
		 column_or(db, "memKind", "7"));
	return sqlite_file_read(gpus->rows->import, db, query, on_memory, &memory);
}
