/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_mspti.c - libmspti.so of the simulated Ascend: reports the device's tasks live, as CANN's does.
 *
 * Reports tasks that were sent while it was enabled and have ended. Records have the layout of device/mspti.h;
 * a collective has one record, and a call has the number of its tasks. Preload it like the real library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/mspti.h"
#include "sim.h"

#define KINDS_MAX 16
#define INVALID_PARAMETER 1

static struct {
	mspti_request request;
	mspti_complete complete;
	void *subscriber;
	uint64_t from_ns[KINDS_MAX], until_ns[KINDS_MAX]; /* when each kind was last enabled and disabled */
	uint64_t to_realtime; /* difference to add to CLOCK_MONOTONIC */
	uint8_t *buffer;
	size_t size, used;
} mspti;

/* Returns the bytes of a record; 0 for kinds without records. */
static size_t record_size(int32_t kind)
{
	switch (kind) {
	case MSPTI_KERNEL: return sizeof(struct mspti_kernel);
	case MSPTI_API: return sizeof(struct mspti_api);
	case MSPTI_MEMSET: return sizeof(struct mspti_memset);
	case MSPTI_MEMCPY: return sizeof(struct mspti_memcpy);
	case MSPTI_COMMUNICATION: return sizeof(struct mspti_communication);
	default: return 0;
	}
}

static void hand_over(void)
{
	if (mspti.buffer)
		mspti.complete(mspti.buffer, mspti.size, mspti.used);
	mspti.buffer = NULL;
	mspti.size = mspti.used = 0;
}

/* Returns false if there is no room for the record. */
static bool append(int32_t kind, const void *record)
{
	size_t size = record_size(kind), max_records;

	if (mspti.buffer && mspti.used + size > mspti.size)
		hand_over();
	if (!mspti.buffer)
		mspti.request(&mspti.buffer, &mspti.size, &max_records);
	if (!mspti.buffer || size > mspti.size)
		return false;
	memcpy(mspti.buffer + mspti.used, record, size);
	mspti.used += size;
	return true;
}

static bool wanted(int32_t kind, uint64_t ns)
{
	return ns >= mspti.from_ns[kind] && ns < mspti.until_ns[kind];
}

static void tell_kernel(const struct sim_task *task)
{
	const struct mspti_kernel record = { .kind = MSPTI_KERNEL,
					     .start = task->start_ns + mspti.to_realtime,
					     .end = task->end_ns + mspti.to_realtime,
					     .stream = task->stream,
					     .correlation = task->connection,
					     .type = task->core,
					     .name = task->name };

	if (wanted(MSPTI_KERNEL, task->sent_ns))
		append(MSPTI_KERNEL, &record);
}

static void tell_copy(const struct sim_task *task)
{
	static const int32_t KINDS[] = { MSPTI_HTOH, MSPTI_HTOD, MSPTI_DTOH, MSPTI_DTOD };
	const struct mspti_memcpy record = { .kind = MSPTI_MEMCPY,
					     .copy_kind = task->direction < 4 ? KINDS[task->direction] : 0,
					     .bytes = task->bytes,
					     .start = task->start_ns + mspti.to_realtime,
					     .end = task->end_ns + mspti.to_realtime,
					     .stream = task->stream,
					     .correlation = task->connection,
					     .is_async = 1 };

	if (wanted(MSPTI_MEMCPY, task->sent_ns))
		append(MSPTI_MEMCPY, &record);
}

/* Reports a collective with the first part @first. Returns false while not all of its parts have ended. */
static bool tell_collective(struct sim_task *first)
{
	struct mspti_communication record = { .kind = MSPTI_COMMUNICATION,
					      .stream = first->stream,
					      .start = first->start_ns + mspti.to_realtime,
					      .algorithm = "",
					      .name = first->call,
					      .communicator = "",
					      .correlation = first->connection };
	struct sim_task *part;
	uint32_t parts = 0;

	for (part = first; part && parts < first->parts; part = part->next) {
		if (part->connection != first->connection)
			continue;
		if (!part->done)
			return false;
		record.end = part->end_ns + mspti.to_realtime;
		parts++;
	}
	if (parts < first->parts)
		return false;
	for (part = first; parts; part = part->next) {
		if (part->connection != first->connection)
			continue;
		part->told = true;
		parts--;
	}
	if (wanted(MSPTI_COMMUNICATION, first->sent_ns))
		append(MSPTI_COMMUNICATION, &record);
	return true;
}

static void tell_tasks(void)
{
	static struct sim_task **untold;

	if (!untold)
		untold = &sim_device.tasks;
	for (struct sim_task *task = *untold; task; task = task->next) {
		if (task->told || !task->done)
			continue;
		if (task->kind == SIM_COLLECTIVE && !tell_collective(task))
			continue;
		if (task->kind == SIM_KERNEL || task->kind == SIM_AICPU)
			tell_kernel(task);
		else if (task->kind == SIM_COPY)
			tell_copy(task);
		task->told = true;
	}
	while (*untold && (*untold)->told)
		untold = &(*untold)->next;
}

static void tell_calls(void)
{
	static struct sim_call **untold;

	if (!untold)
		untold = &sim_device.calls;
	for (; *untold; untold = &(*untold)->next) {
		const struct sim_call *call = *untold;
		const struct mspti_api record = { .kind = MSPTI_API,
						  .start = call->start_ns + mspti.to_realtime,
						  .end = call->end_ns + mspti.to_realtime,
						  .thread = call->tid,
						  .correlation = call->connection,
						  .name = call->name };

		if (call->connection && wanted(MSPTI_API, call->start_ns))
			append(MSPTI_API, &record);
	}
}

SIM_EXPORT int msptiSubscribe(void **subscriber, mspti_callback callback, void *data)
{
	if (mspti.subscriber)
		return MSPTI_MULTIPLE_SUBSCRIBERS;
	*subscriber = mspti.subscriber = &mspti;
	sim_begin();
	return 0;
}

SIM_EXPORT int msptiUnsubscribe(void *subscriber)
{
	if (!subscriber || subscriber != mspti.subscriber)
		return INVALID_PARAMETER;
	mspti.subscriber = NULL;
	return 0;
}

SIM_EXPORT int msptiActivityRegisterCallbacks(mspti_request request, mspti_complete complete)
{
	mspti.request = request;
	mspti.complete = complete;
	return request && complete ? 0 : INVALID_PARAMETER;
}

SIM_EXPORT int msptiActivityEnable(int kind)
{
	if (kind < 0 || kind >= KINDS_MAX)
		return INVALID_PARAMETER;
	pthread_mutex_lock(&sim_device.lock);
	mspti.from_ns[kind] = sim_now();
	mspti.until_ns[kind] = UINT64_MAX;
	pthread_mutex_unlock(&sim_device.lock);
	return 0;
}

/* Tasks that were sent before are still reported. */
SIM_EXPORT int msptiActivityDisable(int kind)
{
	if (kind < 0 || kind >= KINDS_MAX)
		return INVALID_PARAMETER;
	pthread_mutex_lock(&sim_device.lock);
	mspti.until_ns[kind] = sim_now();
	pthread_mutex_unlock(&sim_device.lock);
	return 0;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The file shows a waiting test that MSPTI is in use. */
static void note_first(void)
{
	static bool noted;
	const char *folder = getenv("ASCEND_SIM_OUT");
	char path[4096];
	FILE *file;

	if (noted || !folder || !*folder)
		return;
	noted = true;
	snprintf(path, sizeof(path), "%s/mspti.log", folder);
	file = fopen(path, "we");
	if (!file)
		return;
	fputs("delivered\n", file);
	fclose(file);
}

SIM_EXPORT int msptiActivityFlushAll(uint32_t flag)
{
	uint64_t before_ns, real_ns, after_ns;

	if (!mspti.request)
		return INVALID_PARAMETER;
	do {
		before_ns = sim_now();
		real_ns = now_ns(CLOCK_REALTIME);
		after_ns = sim_now();
	} while (after_ns - before_ns > 1000);
	pthread_mutex_lock(&sim_device.lock);
	mspti.to_realtime = real_ns - before_ns - (after_ns - before_ns) / 2;
	tell_calls();
	tell_tasks();
	pthread_mutex_unlock(&sim_device.lock);
	hand_over();
	note_first();
	return 0;
}

SIM_EXPORT int msptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
					  struct mspti_record **record)
{
	size_t at = *record ? (size_t)((uint8_t *)*record - buffer) + record_size((*record)->kind)
			    : 0;

	if (at >= valid)
		return MSPTI_MAX_LIMIT_REACHED;
	*record = (struct mspti_record *)(buffer + at);
	return 0;
}
