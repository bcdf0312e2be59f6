/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmspti_truth.c - a test double of CANN's libmspti.so: preloaded, it interposes the launching
 * functions, and knows the device's task for each launch.
 *
 * Writes TRUTH_MSPTI_LOG like libcupti_truth.c: one line per task, CLOCK_MONOTONIC.
 */
#include "device/mspti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "tests/truth/runtimes.h"
#include "tests/truth/truth.h"

#define QUEUE 65536
#define RECORD_SIZE 96 /* of all kinds */
#define DELAY_NS 2000
#define KERNEL_NS 7000
#define COLLECTIVE_NS 9000
#define COPY_NS 5000
#define FILL_NS 3000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint8_t bytes[RECORD_SIZE];
} queue[QUEUE];
static unsigned int queue_count;
static size_t buffer_used;
static bool enabled[16];
static uint64_t correlations, device_busy_until;
static mspti_request requested;
static mspti_complete completed;
static FILE *log_file;

/* Converts CLOCK_MONOTONIC to CLOCK_REALTIME. */
static uint64_t stamp(uint64_t monotonic)
{
	uint64_t before, now, after;

	do {
		before = clock_ns(CLOCK_MONOTONIC);
		now = clock_ns(CLOCK_REALTIME);
		after = clock_ns(CLOCK_MONOTONIC);
	} while (after - before > 1000);
	return monotonic + now - before - (after - before) / 2;
}

static void append(const void *record, size_t size)
{
	if (queue_count < QUEUE)
		memcpy(queue[queue_count++].bytes, record, size);
}

/* Appends a task of the device, as a record of the activity's kind. */
static void append_task(int kind, const char *name, uint64_t start, uint64_t end, uint32_t stream,
			uint64_t bytes, uint64_t id)
{
	const struct mspti_kernel kernel = { MSPTI_KERNEL, start, end, 0, stream, id, NULL, name };
	const struct mspti_communication comm = { .kind = MSPTI_COMMUNICATION,
						  .stream = stream,
						  .start = start,
						  .end = end,
						  .name = name,
						  .correlation = id };
	const struct mspti_memcpy copy = { MSPTI_MEMCPY, MSPTI_HTOD, bytes, start, end, 0,
					   stream,	 id,	     1 };
	const struct mspti_memset fill = { MSPTI_MEMSET, 0, bytes, start, end, 0, stream, id, 1 };

	switch (kind) {
	case MSPTI_KERNEL: append(&kernel, sizeof(kernel)); break;
	case MSPTI_COMMUNICATION: append(&comm, sizeof(comm)); break;
	case MSPTI_MEMCPY: append(&copy, sizeof(copy)); break;
	default: append(&fill, sizeof(fill)); break;
	}
}

/* Returns the enum stream_kind of an activity kind. */
static int stream_kind(int kind)
{
	switch (kind) {
	case MSPTI_KERNEL: return 1;
	case MSPTI_MEMCPY: return 2;
	case MSPTI_MEMSET: return 3;
	default: return 6;
	}
}

/* Reports a task of the device, and then the call that caused it. */
static void happened(int kind, const char *name, uint64_t call_start, uint64_t ns, void *stream,
		     uint64_t bytes)
{
	uint64_t start, end, id;
	struct mspti_api api = { .kind = MSPTI_API, .thread = (uint32_t)own_tid() };

	pthread_mutex_lock(&lock);
	if (!enabled[kind]) {
		pthread_mutex_unlock(&lock);
		return;
	}
	id = api.correlation = ++correlations;
	start = call_start + DELAY_NS;
	start = start < device_busy_until ? device_busy_until : start;
	end = device_busy_until = start + ns;
	append_task(kind, name, stamp(start), stamp(end), (uint32_t)(uintptr_t)stream, bytes, id);
	api.start = stamp(call_start);
	api.end = stamp(clock_ns(CLOCK_MONOTONIC));
	append(&api, sizeof(api));
	if (log_file)
		fprintf(log_file, "task %lu %s %d %d %lx %lu %lu %lu %lu\n", id, name,
			stream_kind(kind), own_tid(), (unsigned long)(uintptr_t)stream, bytes,
			start, end, call_start);
	pthread_mutex_unlock(&lock);
}

EXPORT int aclrtLaunchKernel(void *function, uint32_t blocks, const void *args, size_t args_size,
			     void *stream)
{
	__typeof__(&aclrtLaunchKernel) next = dlsym(RTLD_NEXT, "aclrtLaunchKernel");
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int result = next ? next(function, blocks, args, args_size, stream) : 0;

	happened(MSPTI_KERNEL, "MatMul_7", start, KERNEL_NS, stream, 0);
	return result;
}

EXPORT int HcclAllReduce(void *send, void *recv, uint64_t count, int type, int op, void *comm,
			 void *stream)
{
	__typeof__(&HcclAllReduce) next = dlsym(RTLD_NEXT, "HcclAllReduce");
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int result = next ? next(send, recv, count, type, op, comm, stream) : 0;

	happened(MSPTI_COMMUNICATION, "hcom_allReduce_", start, COLLECTIVE_NS, stream, 0);
	return result;
}

EXPORT int aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t bytes, int kind,
			    void *stream)
{
	__typeof__(&aclrtMemcpyAsync) next = dlsym(RTLD_NEXT, "aclrtMemcpyAsync");
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int result = next ? next(to, room, from, bytes, kind, stream) : 0;

	happened(MSPTI_MEMCPY, "Memcpy_HtoD", start, COPY_NS, stream, bytes);
	return result;
}

EXPORT int aclrtMemsetAsync(void *address, size_t room, int32_t value, size_t bytes, void *stream)
{
	__typeof__(&aclrtMemsetAsync) next = dlsym(RTLD_NEXT, "aclrtMemsetAsync");
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int result = next ? next(address, room, value, bytes, stream) : 0;

	happened(MSPTI_MEMSET, "Memset", start, FILL_NS, stream, bytes);
	return result;
}

int msptiSubscribe(void **subscriber, mspti_callback callback, void *data)
{
	*subscriber = queue;
	return getenv("TRUTH_MSPTI_BUSY") ? MSPTI_MULTIPLE_SUBSCRIBERS : 0;
}

int msptiUnsubscribe(void *subscriber)
{
	return subscriber == queue ? 0 : 1;
}

int msptiActivityRegisterCallbacks(mspti_request request, mspti_complete complete)
{
	requested = request;
	completed = complete;
	return 0;
}

static int set(int kind, bool enable)
{
	const char *path = getenv("TRUTH_MSPTI_LOG");

	pthread_mutex_lock(&lock);
	enabled[kind] = enable;
	if (path && !log_file)
		log_file = fopen(path, "we");
	/* The last kind that the shim enables. */
	if (log_file && kind == MSPTI_COMMUNICATION) {
		setvbuf(log_file, NULL, _IOLBF, 0);
		fprintf(log_file, enable ? "begin\n" : "end\n");
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

int msptiActivityEnable(int kind)
{
	return set(kind, true);
}

int msptiActivityDisable(int kind)
{
	return set(kind, false);
}

int msptiActivityFlushAll(uint32_t flag)
{
	size_t size, max, used = 0;
	unsigned int i = 0;
	uint8_t *buffer;

	requested(&buffer, &size, &max);
	pthread_mutex_lock(&lock);
	for (; i < queue_count && used + RECORD_SIZE <= size; i++, used += RECORD_SIZE)
		memcpy(buffer + used, queue[i].bytes, RECORD_SIZE);
	memmove(queue, queue + i, (queue_count - i) * sizeof(*queue));
	queue_count -= i;
	pthread_mutex_unlock(&lock);
	buffer_used = 0;
	completed(buffer, size, used);
	return 0;
}

int msptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct mspti_record **record)
{
	if (buffer_used + RECORD_SIZE > valid)
		return MSPTI_MAX_LIMIT_REACHED;
	*record = (struct mspti_record *)(buffer + buffer_used);
	buffer_used += RECORD_SIZE;
	return 0;
}
