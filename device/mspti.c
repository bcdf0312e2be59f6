/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mspti.c - the MSPTI shim (libprofbpf-mspti.so): gets the tasks of an Ascend device from CANN's MSPTI.
 *
 * MSPTI interposes functions of CANN, so it must be preloaded, and this shim after it:
 * LD_PRELOAD="libmspti.so libprofbpf-mspti.so". Without libmspti in the process the shim does
 * nothing.
 */
#include "device/mspti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device/clock_pair.h"
#include "device/correlated.h"
#include "device/listener.h"

#define BUFFER_SIZE (1u << 20)

static const int kinds[] = { MSPTI_API, MSPTI_KERNEL, MSPTI_MEMCPY, MSPTI_MEMSET,
			     MSPTI_COMMUNICATION };
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static struct {
	__typeof__(&msptiSubscribe) subscribe;
	__typeof__(&msptiUnsubscribe) unsubscribe;
	__typeof__(&msptiActivityRegisterCallbacks) register_callbacks;
	__typeof__(&msptiActivityEnable) enable;
	__typeof__(&msptiActivityDisable) disable;
	__typeof__(&msptiActivityFlushAll) flush_all;
	__typeof__(&msptiActivityGetNextRecord) next_record;
} mspti;

static struct stream_writer *writer;
static void *subscriber;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int indexes[STREAM_DEVICES]; /* of devices in the stream, plus 1; under lock */

static uint64_t realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* ---- Records */

static int device_index(uint32_t number)
{
	const char *(*get_name)(void);
	const char *chip;
	char name[64];
	int index;

	if (number >= STREAM_DEVICES)
		return -1;
	pthread_mutex_lock(&lock);
	if (!indexes[number]) {
		get_name = (__typeof__(get_name))(uintptr_t)dlsym(RTLD_DEFAULT, "aclrtGetSocName");
		chip = get_name ? get_name() : NULL;
		snprintf(name, sizeof(name), "%s %u", chip ? chip : "Ascend", number);
		indexes[number] = stream_writer_add_device(writer, name, "accelerator") + 1;
		if (indexes[number])
			stream_writer_declare_clock(writer, indexes[number] - 1,
						    STREAM_CLOCK_REALTIME);
	}
	index = indexes[number] - 1;
	pthread_mutex_unlock(&lock);
	return index;
}

static void add_call(const struct mspti_api *record)
{
	if (record->correlation)
		correlated_call(record->correlation, record->thread,
				clock_pair_to_monotonic(record->start),
				record->end > record->start ? record->end - record->start : 0);
}

static void add_task(enum stream_kind kind, const char *name, uint64_t bytes, uint64_t start,
		     uint64_t end, uint32_t device, uint32_t stream, uint64_t correlation)
{
	struct stream_task task = {
		.kind = kind,
		.name = name ? stream_writer_name(writer, name) : 0,
		.bytes = bytes,
		.start_ns = start,
		.end_ns = end,
		.stream = stream,
	};

	correlated_task(writer, &task, device_index(device), correlation);
}

static void take(const struct mspti_record *record)
{
	const struct mspti_kernel *kernel = (const void *)record;
	const struct mspti_memcpy *copy = (const void *)record;
	const struct mspti_memset *fill = (const void *)record;
	const struct mspti_communication *comm = (const void *)record;

	switch (record->kind) {
	case MSPTI_API: add_call((const void *)record); break;
	case MSPTI_KERNEL:
		add_task(STREAM_KERNEL, kernel->name, 0, kernel->start, kernel->end, kernel->device,
			 kernel->stream, kernel->correlation);
		break;
	case MSPTI_MEMCPY:
		add_task(STREAM_COPY, mspti_copy_name(copy->copy_kind), copy->bytes, copy->start,
			 copy->end, copy->device, copy->stream, copy->correlation);
		break;
	case MSPTI_MEMSET:
		add_task(STREAM_FILL, "Memset", fill->bytes, fill->start, fill->end, fill->device,
			 fill->stream, fill->correlation);
		break;
	case MSPTI_COMMUNICATION:
		add_task(STREAM_COMMUNICATION, comm->name, 0, comm->start, comm->end, comm->device,
			 comm->stream, comm->correlation);
		break;
	default: break;
	}
}

static void buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*max_records = 0;
	*buffer = aligned_alloc(64, BUFFER_SIZE);
	*size = *buffer ? BUFFER_SIZE : 0;
}

static void buffer_completed(uint8_t *buffer, size_t size, size_t valid)
{
	struct mspti_record *record = NULL;

	while (valid && mspti.next_record(buffer, valid, &record) == 0)
		take(record);
	free(buffer);
}

/* ---- Recording */

/* Python loads CANN late; before that MSPTI does not work. */
static bool ready(void)
{
	return dlsym(RTLD_DEFAULT, "aclrtLaunchKernel") || dlsym(RTLD_DEFAULT, "rtKernelLaunch") ||
	       dlopen("libruntime.so", RTLD_NOW | RTLD_NOLOAD) ||
	       dlopen("libascendcl.so", RTLD_NOW | RTLD_NOLOAD) ||
	       dlopen("libacl_rt.so", RTLD_NOW | RTLD_NOLOAD);
}

static void nothing(void *data, int domain, uint32_t id, const void *info)
{
}

static bool begin(void)
{
	unsigned int enabled = 0;
	int result = mspti.subscribe(&subscriber, nothing, NULL);

	if (result != 0) {
		listener_say("MSPTI: no device times: it refuses the subscription, error %d%s", result,
			     result == MSPTI_MULTIPLE_SUBSCRIBERS
				     ? ": another profiler uses it in this process"
				     : "");
		return false;
	}
	clock_pair_compare(realtime_ns);
	result = mspti.register_callbacks(buffer_requested, buffer_completed);
	for (size_t i = 0; i < KINDS && result == 0; i++)
		enabled += mspti.enable(kinds[i]) == 0;
	if (!enabled) {
		listener_say("MSPTI: no device times: it records nothing, error %d (is LD_PRELOAD=libmspti.so set?)",
			     result);
		mspti.unsubscribe(subscriber);
	}
	return enabled > 0;
}

static void deliver(bool last)
{
	clock_pair_compare(realtime_ns);
	mspti.flush_all(1);
	correlated_settle(writer, last);
}

static void end(void)
{
	for (size_t i = KINDS; i-- > 0;)
		mspti.disable(kinds[i]);
	deliver(true);
	mspti.unsubscribe(subscriber);
}

static const struct listener listener = { "profbpf-mspti", ready, begin, deliver, end };

#define FIND(member, name) \
	(mspti.member = (__typeof__(mspti.member))(uintptr_t)dlsym(RTLD_DEFAULT, name))

__attribute__((constructor)) static void initialize(void)
{
	if (!FIND(subscribe, "msptiSubscribe") || !FIND(unsubscribe, "msptiUnsubscribe") ||
	    !FIND(register_callbacks, "msptiActivityRegisterCallbacks") ||
	    !FIND(enable, "msptiActivityEnable") || !FIND(disable, "msptiActivityDisable") ||
	    !FIND(flush_all, "msptiActivityFlushAll") ||
	    !FIND(next_record, "msptiActivityGetNextRecord")) {
		listener_say("MSPTI: no device times: libmspti.so is not loaded; preload it, too");
		return;
	}
	writer = stream_writer_create("mspti", STREAM_WRITER_SLOTS);
	if (!writer)
		listener_say(
			"MSPTI: no device times: cannot create shared memory (check ulimit -f and free memory)");
	else if (listener_start(writer, &listener) != 0)
		listener_say("MSPTI: no device times: cannot create a thread");
}
