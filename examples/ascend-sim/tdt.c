/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tdt.c - the queues between data pipeline and device (acl/acl_tdt.h), in libascendcl.so: a send
 * blocks while its channel is full.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define DEFAULT_CAPACITY 8
#define ACL_ERROR_FAILURE 500003
#define ACL_ERROR_RT_QUEUE_FULL 207014
#define ACL_ERROR_RT_QUEUE_EMPTY 207013

struct dataset {
	size_t count;
};

SIM_EXPORT struct sim_channel *acltdtCreateChannelWithCapacity(uint32_t device, const char *name,
							       size_t capacity)
{
	struct sim_channel *channel = calloc(1, sizeof(*channel));

	sim_begin();
	if (!channel)
		return NULL;
	snprintf(channel->name, sizeof(channel->name), "%s", name);
	channel->capacity = capacity ? capacity : DEFAULT_CAPACITY;
	pthread_mutex_lock(&sim_device.lock);
	channel->next = sim_channels;
	sim_channels = channel;
	pthread_mutex_unlock(&sim_device.lock);
	return channel;
}

SIM_EXPORT struct sim_channel *acltdtCreateChannel(uint32_t device, const char *name)
{
	return acltdtCreateChannelWithCapacity(device, name, DEFAULT_CAPACITY);
}

SIM_EXPORT int acltdtStopChannel(struct sim_channel *channel)
{
	pthread_mutex_lock(&sim_device.lock);
	channel->stopped = true;
	pthread_cond_broadcast(&sim_device.changed);
	pthread_mutex_unlock(&sim_device.lock);
	return 0;
}

/* The channel can no longer be used, but stays for the profile. */
SIM_EXPORT int acltdtDestroyChannel(struct sim_channel *channel)
{
	return acltdtStopChannel(channel);
}

SIM_EXPORT int acltdtCleanChannel(struct sim_channel *channel)
{
	pthread_mutex_lock(&sim_device.lock);
	channel->size = 0;
	pthread_cond_broadcast(&sim_device.changed);
	pthread_mutex_unlock(&sim_device.lock);
	return 0;
}

static int wait_changed(int32_t timeout_ms, const struct timespec *until)
{
	if (timeout_ms == 0)
		return ETIMEDOUT;
	if (timeout_ms < 0)
		return pthread_cond_wait(&sim_device.changed, &sim_device.lock);
	return pthread_cond_timedwait(&sim_device.changed, &sim_device.lock, until);
}

static struct timespec deadline(int32_t timeout_ms)
{
	uint64_t ns = sim_now() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000u;

	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u),
				  .tv_nsec = (long)(ns % 1000000000u) };
}

SIM_EXPORT int acltdtSendTensor(struct sim_channel *channel, const struct dataset *dataset,
				int32_t timeout)
{
	struct timespec until = deadline(timeout);
	int err = 0;

	pthread_mutex_lock(&sim_device.lock);
	while (channel->size == channel->capacity && !channel->stopped && err != ETIMEDOUT)
		err = wait_changed(timeout, &until);
	if (channel->stopped) {
		err = ACL_ERROR_FAILURE;
	} else if (channel->size == channel->capacity) {
		err = ACL_ERROR_RT_QUEUE_FULL;
	} else {
		channel->size++;
		channel->pushed++;
		channel->pushed_ns = sim_now();
		if (sim_device.sink) {
			channel->size--;
			channel->popped++;
		}
		err = 0;
		pthread_cond_broadcast(&sim_device.changed);
	}
	pthread_mutex_unlock(&sim_device.lock);
	return err;
}

SIM_EXPORT int acltdtReceiveTensor(struct sim_channel *channel, struct dataset *dataset,
				   int32_t timeout)
{
	struct timespec until = deadline(timeout);
	int err = 0;

	pthread_mutex_lock(&sim_device.lock);
	while (!channel->size && !channel->stopped && err != ETIMEDOUT)
		err = wait_changed(timeout, &until);
	err = channel->size ? 0 : ACL_ERROR_RT_QUEUE_EMPTY;
	if (channel->size) {
		channel->size--;
		channel->popped++;
		pthread_cond_broadcast(&sim_device.changed);
	}
	pthread_mutex_unlock(&sim_device.lock);
	return err;
}

SIM_EXPORT int acltdtQueryChannelSize(const struct sim_channel *channel, size_t *size)
{
	struct sim_query *query = calloc(1, sizeof(*query));

	if (!query)
		return ACL_ERROR_FAILURE;
	pthread_mutex_lock(&sim_device.lock);
	*size = query->size = channel->size;
	query->ns = sim_now();
	*sim_device.queries_end = query;
	sim_device.queries_end = &query->next;
	pthread_mutex_unlock(&sim_device.lock);
	return 0;
}

SIM_EXPORT struct dataset *acltdtCreateDataset(void)
{
	return calloc(1, sizeof(struct dataset));
}

SIM_EXPORT int acltdtDestroyDataset(struct dataset *dataset)
{
	free(dataset);
	return 0;
}

/* The device does not read the content of elements. */
SIM_EXPORT void *acltdtCreateDataItem(int type, const int64_t *dims, size_t dim_count,
				      int data_type, void *data, size_t bytes)
{
	return malloc(16);
}

SIM_EXPORT int acltdtDestroyDataItem(void *item)
{
	free(item);
	return 0;
}

SIM_EXPORT int acltdtAddDataItem(struct dataset *dataset, void *item)
{
	dataset->count++;
	return 0;
}

SIM_EXPORT size_t acltdtGetDatasetSize(const struct dataset *dataset)
{
	return dataset->count;
}
