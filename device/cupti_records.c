/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_records.c - CUPTI's buffers; turns activity records into tasks.
 *
 * The oldest structure of each kind is read: later ones begin alike (CUPTI_VERSION_MIN).
 */
#include "device/cupti.h"

#include <pthread.h>
#include <stdlib.h>

#include "device/correlated.h"

#define BUFFER_SIZE (1u << 20)
#define BUFFERS 256 /* the most that CUPTI holds at a time; dropped records are counted */
#define CONTEXTS 64u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all variables below */
static void *buffers[BUFFERS];
static struct {
	uint32_t id, device;
	bool known;
} contexts[CONTEXTS]; /* with their devices, which synchronisation records do not contain */
static bool system_threads;

void cupti_records_threads(bool system_ids)
{
	system_threads = system_ids;
}

/* ---- Buffers. Another profiler may replace our callbacks, or our callbacks may get its buffers. */

static bool exchange(void *from, void *to)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < BUFFERS && !found; i++) {
		found = buffers[i] == from;
		if (found)
			buffers[i] = to;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void CUPTIAPI cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*max_records = 0;
	*size = 0;
	*buffer = aligned_alloc(64, BUFFER_SIZE);
	if (!*buffer)
		return;
	if (exchange(NULL, *buffer)) {
		*size = BUFFER_SIZE;
		return;
	}
	free(*buffer);
	*buffer = NULL;
}

/* ---- Calls */

/* A driver call inside a runtime call has the same number. */
static void add_call(const CUpti_ActivityAPI *record)
{
	correlated_call(record->correlationId, system_threads ? record->threadId : 0,
			cupti_clock_to_monotonic(record->start),
			record->end > record->start ? record->end - record->start : 0);
}

/* ---- Tasks */

static void add_task(struct stream_task *task, uint32_t device, uint32_t context,
		     uint32_t correlation)
{
	contexts[context & (CONTEXTS - 1)].id = context;
	contexts[context & (CONTEXTS - 1)].device = device;
	contexts[context & (CONTEXTS - 1)].known = true;
	correlated_task(cupti_writer, task, cupti_device_index(device), correlation);
}

static void add_kernel(const CUpti_ActivityKernel4 *record)
{
	struct stream_task task = {
		.kind = STREAM_KERNEL,
		.queued_ns = record->queued,
		.submit_ns = record->submitted,
		.start_ns = record->start,
		.end_ns = record->end,
		.stream = record->streamId,
		.name = record->name ? stream_writer_name(cupti_writer, record->name) : 0,
	};

	add_task(&task, record->deviceId, record->contextId, record->correlationId);
}

static const char *copy_name(uint8_t kind)
{
	static const char *const names[] = {
		[CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN] = "Memcpy",
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = "Memcpy HtoD",
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = "Memcpy DtoH",
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOA] = "Memcpy HtoA",
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOH] = "Memcpy AtoH",
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOA] = "Memcpy AtoA",
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOD] = "Memcpy AtoD",
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOA] = "Memcpy DtoA",
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOD] = "Memcpy DtoD",
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOH] = "Memcpy HtoH",
		[CUPTI_ACTIVITY_MEMCPY_KIND_PTOP] = "Memcpy PtoP",
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : names[0];
}

/* Records of copies and fills have the same members, in different places. */
#define ADD_MOVED(record, what, words)                                   \
	add_task(                                                        \
		&(struct stream_task){                                   \
			.kind = (what),                                  \
			.start_ns = (record)->start,                     \
			.end_ns = (record)->end,                         \
			.stream = (record)->streamId,                    \
			.bytes = (record)->bytes,                        \
			.name = stream_writer_name(cupti_writer, words), \
		},                                                       \
		(record)->deviceId, (record)->contextId, (record)->correlationId)

static const char *sync_name(CUpti_ActivitySynchronizationType type)
{
	switch (type) {
	case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE: return "Event synchronize";
	case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT: return "Stream wait event";
	case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE: return "Stream synchronize";
	case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE: return "Context synchronize";
	default: return "Synchronize";
	}
}

static void add_sync(const CUpti_ActivitySynchronization *record)
{
	struct stream_task task = {
		.kind = STREAM_SYNC,
		.start_ns = record->start,
		.end_ns = record->end,
		.stream = record->streamId == CUPTI_SYNCHRONIZATION_INVALID_VALUE
				  ? 0
				  : record->streamId,
		.name = stream_writer_name(cupti_writer, sync_name(record->type)),
	};
	unsigned int slot = record->contextId & (CONTEXTS - 1);

	/* The context ran no task during the recording, so its device is not known. */
	if (!contexts[slot].known || contexts[slot].id != record->contextId)
		return;
	add_task(&task, contexts[slot].device, record->contextId, record->correlationId);
}

static void take(const CUpti_Activity *record)
{
	const void *whole = record;
	const CUpti_ActivityMemcpy *copy = whole;
	const CUpti_ActivityMemcpy2 *peer = whole;
	const CUpti_ActivityMemset *fill = whole;

	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER: add_call(whole); break;
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: add_kernel(whole); break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		ADD_MOVED(copy, STREAM_COPY, copy_name(copy->copyKind));
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2: ADD_MOVED(peer, STREAM_COPY, "Memcpy PtoP"); break;
	case CUPTI_ACTIVITY_KIND_MEMSET: ADD_MOVED(fill, STREAM_FILL, "Memset"); break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: add_sync(whole); break;
	default: break;
	}
}

/* Counts records that CUPTI dropped for lack of a buffer. Some may be calls; CUPTI does not report their kind. */
static void count_dropped(CUcontext context, uint32_t stream)
{
	size_t dropped = 0;

	if (cupti_library.ActivityGetNumDroppedRecords(context, stream, &dropped) != CUPTI_SUCCESS)
		return;
	for (; dropped; dropped--) {
		stream_writer_begin(cupti_writer);
		stream_writer_untimed(cupti_writer);
	}
}

void CUPTIAPI cupti_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
				     size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;

	while (valid &&
	       cupti_library.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		pthread_mutex_lock(&lock);
		take(record);
		pthread_mutex_unlock(&lock);
	}
	count_dropped(context, stream);
	if (buffer && exchange(buffer, NULL))
		free(buffer);
}
