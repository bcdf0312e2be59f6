/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcupti_truth.c - a test double of NVIDIA's libcupti: the functions that the shim uses, with the
 * prototypes of the real headers, for a device whose every task is known.
 *
 * A stream runs one task after another, none before its call has begun. The file that
 * TRUTH_CUPTI_LOG names gets the expected records of the shim, one line per task, times in
 * CLOCK_MONOTONIC:
 *
 *   task CORRELATION NAME KIND TID STREAM BYTES START END CALL_START
 *
 * between a line "begin" and a line "end" for each recording.
 *
 * TRUTH_CUPTI selects its behaviour, words in any order:
 *   old      like CUDA 11.0: CLOCK_REALTIME, all API calls or none
 *   ancient  like CUDA 10
 *   busy     another profiler uses CUPTI
 *   late     records of calls are delivered after the records of their tasks
 */
#include <cupti.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/truth/cuda_tool.h"
#include "tests/truth/truth.h"

#define RECORD_MAX 512
#define STREAMS 64
#define DELAY_NS 2000 /* from a call's begin to the earliest start of its task */
#define CONTEXT 1

struct record {
	struct record *next;
	uint64_t ready_ns; /* CLOCK_MONOTONIC of the end of its task */
	size_t size;
	uint64_t bytes[RECORD_MAX / 8];
};

struct list {
	struct record *first, **last;
	size_t count;
};

static const struct api {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId id;
	const char *name; /* name in CUPTI */
	const char *function;
} apis[] = {
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
	  "cudaLaunchKernel_v7000", "cudaLaunchKernel" },
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
	  "cudaGetLastError_v3020", "cudaGetLastError" },
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphKernelNodeSetParams_v10000,
	  "cudaGraphKernelNodeSetParams_v10000", "cudaGraphKernelNodeSetParams" },
	{ CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel",
	  "cuLaunchKernel" },
	{ CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
	  "cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync_v2" },
	{ CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, "cuMemsetD8Async",
	  "cuMemsetD8Async" },
	{ CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "cuGraphLaunch",
	  "cuGraphLaunch" },
	{ CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
	  "cuStreamSynchronize", "cuStreamSynchronize" },
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000,
	  "cudaGraphLaunch_v10000", "cudaGraphLaunch" },
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020,
	  "cudaMemcpy_v3020", "cudaMemcpy" },
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
	  "cudaMemcpyAsync_v3020", "cudaMemcpyAsync" },
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020,
	  "cudaMemsetAsync_v3020", "cudaMemsetAsync" },
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020,
	  "cudaStreamSynchronize_v3020", "cudaStreamSynchronize" },
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020,
	  "cudaEventSynchronize_v3020", "cudaEventSynchronize" },
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020,
	  "cudaDeviceSynchronize_v3020", "cudaDeviceSynchronize" },
};

#define APIS (sizeof(apis) / sizeof(*apis))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list call_records = { .last = &call_records.first };
static struct list task_records = { .last = &task_records.first };
static CUpti_BuffersCallbackRequestFunc buffer_requested;
static CUpti_BuffersCallbackCompleteFunc buffer_completed;
static CUpti_TimestampCallbackFunc timestamp;
static bool kind_enabled[CUPTI_ACTIVITY_KIND_COUNT], api_enabled[APIS], system_threads;
static uint64_t stream_end[STREAMS];
static uint32_t correlations;
static size_t buffer_used; /* bytes used in the buffer that GetNextRecord reads */
static FILE *log_file;

static __thread unsigned int depth;
static __thread uint32_t correlation;
static __thread uint64_t call_start[2];

static bool behaves(const char *word)
{
	const char *how = getenv("TRUTH_CUPTI");

	return how && strstr(how, word);
}

/* Returns CLOCK_REALTIME minus CLOCK_MONOTONIC, from readings that no other thread interrupted. */
static uint64_t realtime_offset(void)
{
	uint64_t before, now, after;

	do {
		before = clock_ns(CLOCK_MONOTONIC);
		now = clock_ns(CLOCK_REALTIME);
		after = clock_ns(CLOCK_MONOTONIC);
	} while (after - before > 1000);
	return now - before - (after - before) / 2;
}

/* Converts CLOCK_MONOTONIC to the clock of the records. */
static uint64_t stamp(uint64_t monotonic)
{
	uint64_t now;

	if (!timestamp)
		return monotonic + realtime_offset();
	now = clock_ns(CLOCK_MONOTONIC);
	/* The callback must return CLOCK_MONOTONIC: both clocks are read at once and compared. */
	return timestamp() - now < 1000000000 ? monotonic : 0;
}

static void append(struct list *list, const void *bytes, size_t size, uint64_t ready_ns)
{
	struct record *record = calloc(1, sizeof(*record));

	memcpy(record->bytes, bytes, size);
	record->size = (size + 7) / 8 * 8;
	record->ready_ns = ready_ns;
	*list->last = record;
	list->last = &record->next;
	list->count++;
}

/* ---- Tasks and calls */

static const struct api *api_of(const char *function)
{
	for (size_t i = 0; i < APIS; i++)
		if (!strcmp(apis[i].function, function))
			return &apis[i];
	abort();
}

static bool is_recorded(const struct api *api)
{
	return api_enabled[api - apis] || kind_enabled[api->domain == CUPTI_CB_DOMAIN_RUNTIME_API
							       ? CUPTI_ACTIVITY_KIND_RUNTIME
							       : CUPTI_ACTIVITY_KIND_DRIVER];
}

static void enter(const char *function)
{
	if (depth == 0) {
		pthread_mutex_lock(&lock);
		correlation = ++correlations;
		pthread_mutex_unlock(&lock);
	}
	call_start[depth++] = clock_ns(CLOCK_MONOTONIC);
}

static void leave(const char *function)
{
	const struct api *api = api_of(function);
	CUpti_ActivityAPI record = {
		.kind = api->domain == CUPTI_CB_DOMAIN_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME
								   : CUPTI_ACTIVITY_KIND_DRIVER,
		.cbid = api->id,
		.processId = (uint32_t)getpid(),
		.threadId = system_threads ? (uint32_t)own_tid()
					   : (uint32_t)(uintptr_t)pthread_self(),
		.correlationId = correlation,
	};
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	depth--;
	record.start = stamp(call_start[depth]);
	record.end = stamp(now);
	pthread_mutex_lock(&lock);
	if (is_recorded(api))
		append(&call_records, &record, sizeof(record), now);
	pthread_mutex_unlock(&lock);
}

static void append_kernel(const struct truth_cuda_work *work, uint64_t start, uint64_t end)
{
	CUpti_ActivityKernel9 record = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.start = stamp(start),
		.end = stamp(end),
		.contextId = CONTEXT,
		.streamId = (uint32_t)work->stream,
		.correlationId = correlation,
		.name = work->name,
	};

	append(&task_records, &record, sizeof(record), end);
}

static uint8_t copy_kind(char kind)
{
	switch (kind) {
	case 'h': return CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
	case 'd': return CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
	default: return CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	}
}

static void append_copy(const struct truth_cuda_work *work, uint64_t start, uint64_t end)
{
	CUpti_ActivityMemcpy6 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copyKind = copy_kind(work->kind),
		.bytes = work->bytes,
		.start = stamp(start),
		.end = stamp(end),
		.contextId = CONTEXT,
		.streamId = (uint32_t)work->stream,
		.correlationId = correlation,
	};

	append(&task_records, &record, sizeof(record), end);
}

static void append_fill(const struct truth_cuda_work *work, uint64_t start, uint64_t end)
{
	CUpti_ActivityMemset4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.bytes = work->bytes,
		.start = stamp(start),
		.end = stamp(end),
		.contextId = CONTEXT,
		.streamId = (uint32_t)work->stream,
		.correlationId = correlation,
	};

	append(&task_records, &record, sizeof(record), end);
}

static CUpti_ActivitySynchronizationType sync_type(char kind)
{
	switch (kind) {
	case 'e': return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
	case 'x': return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
	default: return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
	}
}

static void append_sync(const struct truth_cuda_work *work, uint64_t start, uint64_t end)
{
	CUpti_ActivitySynchronization2 record = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.type = sync_type(work->kind),
		.start = stamp(start),
		.end = stamp(end),
		.contextId = CONTEXT,
		.streamId = (uint32_t)work->stream,
		.correlationId = correlation,
	};

	append(&task_records, &record, sizeof(record), end);
}

static void write_log(const char *name, int kind, const struct truth_cuda_work *work,
		      uint64_t start, uint64_t end)
{
	if (!log_file)
		return;
	fprintf(log_file, "task %u %s %d %d %lx %lu %lu %lu %lu\n", correlation, name, kind,
		own_tid(), work->stream, work->bytes, start, end, call_start[0]);
	fflush(log_file);
}

/* Returns the name that the shim uses. */
static const char *name_of(char kind)
{
	switch (kind) {
	case 'c': return "Memcpy_HtoD";
	case 'h': return "Memcpy_DtoH";
	case 'd': return "Memcpy_DtoD";
	case 'f': return "Memset";
	case 'e': return "Event_synchronize";
	case 'x': return "Context_synchronize";
	default: return "Stream_synchronize";
	}
}

/* Records a wait until the stream, or all streams, are done; it is no task of the device. */
static void wait_for_streams(const struct truth_cuda_work *work)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), end = stream_end[work->stream % STREAMS];

	for (int i = 0; work->kind == 'x' && i < STREAMS; i++)
		end = end > stream_end[i] ? end : stream_end[i];
	while (clock_ns(CLOCK_MONOTONIC) < end)
		sleep_ns(10000);
	end = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&lock);
	if (kind_enabled[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION]) {
		append_sync(work, start, end);
		write_log(name_of(work->kind), 5, work, start, end);
	}
	pthread_mutex_unlock(&lock);
}

static void do_work(const struct truth_cuda_work *work)
{
	uint64_t *busy_until = &stream_end[work->stream % STREAMS], start, end;

	if (strchr("sex", work->kind)) {
		wait_for_streams(work);
		return;
	}
	pthread_mutex_lock(&lock);
	start = clock_ns(CLOCK_MONOTONIC) + DELAY_NS;
	start = start < *busy_until ? *busy_until : start;
	end = start + work->ns;
	*busy_until = end;
	if (work->kind == 'k' && kind_enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]) {
		append_kernel(work, start, end);
		write_log(work->name, 1, work, start, end);
	} else if (strchr("chd", work->kind) && kind_enabled[CUPTI_ACTIVITY_KIND_MEMCPY]) {
		append_copy(work, start, end);
		write_log(name_of(work->kind), 2, work, start, end);
	} else if (work->kind == 'f' && kind_enabled[CUPTI_ACTIVITY_KIND_MEMSET]) {
		append_fill(work, start, end);
		write_log(name_of(work->kind), 3, work, start, end);
	}
	pthread_mutex_unlock(&lock);
}

static const struct truth_cuda_tool tool = { enter, do_work, leave };

/* ---- CUPTI's functions */

CUptiResult cuptiGetVersion(uint32_t *version)
{
	*version = behaves("ancient") ? 12 : behaves("old") ? 13 : CUPTI_API_VERSION;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
			   void *data)
{
	return behaves("busy") ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
	for (size_t i = 0; i < APIS; i++) {
		if (apis[i].domain != domain || apis[i].id != id)
			continue;
		*name = apis[i].name;
		return CUPTI_SUCCESS;
	}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetTimestamp(uint64_t *now)
{
	*now = timestamp ? timestamp() : clock_ns(CLOCK_REALTIME);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	system_threads = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function)
{
	if (behaves("old"))
		return CUPTI_ERROR_NOT_SUPPORTED;
	timestamp = function;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
					   CUpti_BuffersCallbackCompleteFunc completed)
{
	buffer_requested = requested;
	buffer_completed = completed;
	return CUPTI_SUCCESS;
}

static CUptiResult enable_api(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool enable)
{
	if (behaves("old"))
		return CUPTI_ERROR_NOT_SUPPORTED;
	for (size_t i = 0; i < APIS; i++)
		if (apis[i].domain == domain && apis[i].id == id)
			api_enabled[i] = enable;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable)
{
	return enable_api(CUPTI_CB_DOMAIN_RUNTIME_API, id, enable);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable)
{
	return enable_api(CUPTI_CB_DOMAIN_DRIVER_API, id, enable);
}

/* Sets the tool, for which the program waits; called when synchronisation, the last kind, is enabled. */
static void set_tool(const struct truth_cuda_tool *it)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	const struct truth_cuda_tool **place = dlsym(driver, "truth_cuda_tool");

	*place = it;
}

static CUptiResult set_kind(CUpti_ActivityKind kind, bool enable)
{
	const char *path = getenv("TRUTH_CUPTI_LOG");

	pthread_mutex_lock(&lock);
	if (enable && path && !log_file) {
		log_file = fopen(path, "we");
		for (size_t i = 0; i < APIS && log_file; i++)
			if (api_enabled[i])
				fprintf(log_file, "api %s\n", apis[i].function);
	}
	if (log_file && kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) {
		fprintf(log_file, enable ? "begin\n" : "end\n");
		fflush(log_file);
	}
	kind_enabled[kind] = enable;
	pthread_mutex_unlock(&lock);
	if (kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)
		set_tool(enable ? &tool : NULL);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	return set_kind(kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	return set_kind(kind, false);
}

/* Returns the next record that may be delivered, or NULL. */
static struct record *next_record(struct list *list, bool forced)
{
	struct record *record;

	pthread_mutex_lock(&lock);
	record = list->first;
	if (record && (forced || record->ready_ns <= clock_ns(CLOCK_MONOTONIC))) {
		list->first = record->next;
		list->count--;
		if (!list->first)
			list->last = &list->first;
	} else {
		record = NULL;
	}
	pthread_mutex_unlock(&lock);
	return record;
}

static size_t count_of(struct list *list)
{
	size_t count;

	pthread_mutex_lock(&lock);
	count = list->count;
	pthread_mutex_unlock(&lock);
	return count;
}

/* Delivers only the records present at the call: a fast program must not delay the other list. */
static void deliver(struct list *list, bool forced)
{
	size_t size, used, max, left = count_of(list);
	struct record *record = left ? next_record(list, forced) : NULL;
	uint8_t *buffer;

	while (record) {
		buffer_requested(&buffer, &size, &max);
		for (used = 0; record && used + record->size <= size;) {
			memcpy(buffer + used, record->bytes, record->size);
			used += record->size;
			free(record);
			record = --left ? next_record(list, forced) : NULL;
		}
		buffer_used = 0;
		buffer_completed(NULL, 0, buffer, size, used);
	}
}

/* With "late", records of calls come one flush after those of their tasks. */
CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	static bool calls_turn;

	if (!behaves("late") || calls_turn || flag)
		deliver(&call_records, flag);
	if (!behaves("late") || !calls_turn || flag)
		deliver(&task_records, flag);
	calls_turn = !calls_turn;
	return CUPTI_SUCCESS;
}

static size_t size_of(CUpti_ActivityKind kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel9);
	case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy6);
	case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return sizeof(CUpti_ActivitySynchronization2);
	default: return sizeof(CUpti_ActivityAPI);
	}
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	if (buffer_used >= valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)(buffer + buffer_used);
	buffer_used += (size_of((*record)->kind) + 7) / 8 * 8;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
	*dropped = 0;
	return CUPTI_SUCCESS;
}
