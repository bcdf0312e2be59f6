/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - the simulated device and its driver library, libascend_hal.so: streams, events and memory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define START_DELAY_NS 2000 /* from the doorbell to the first cycle */
#define DRV_ERROR_NONE 0
#define DRV_ERROR_NO_RESOURCES 7
#define MEMORY_ALIGN 512

SIM_EXPORT struct sim_device sim_device = { .lock = PTHREAD_MUTEX_INITIALIZER };
SIM_EXPORT struct sim_channel *sim_channels;

SIM_EXPORT uint32_t sim_tid(void)
{
	static __thread uint32_t tid;

	if (!tid)
		tid = (uint32_t)syscall(SYS_gettid);
	return tid;
}

SIM_EXPORT double sim_setting(const char *name, double otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtod(text, NULL) : otherwise;
}

SIM_EXPORT void sim_finish(void)
{
	pthread_mutex_lock(&sim_device.lock);
	if (!sim_device.open) {
		pthread_mutex_unlock(&sim_device.lock);
		return;
	}
	sim_device.open = false;
	pthread_mutex_unlock(&sim_device.lock);
	sim_profile_write();
}

static void begin(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&sim_device.changed, &attributes);
	sim_device.tasks_end = &sim_device.tasks;
	sim_device.calls_end = &sim_device.calls;
	sim_device.queries_end = &sim_device.queries;
	sim_device.first_number = (uint16_t)sim_setting("ASCEND_SIM_FIRST_TASK", 0);
	sim_device.block_ns = (uint64_t)sim_setting("ASCEND_SIM_BLOCK_NS", SIM_BLOCK_NS);
	sim_device.sink = sim_setting("ASCEND_SIM_SINK", 0) != 0;
	sim_counter_begin(&sim_device.counter);
	sim_device.open = true;
	atexit(sim_finish);
}

SIM_EXPORT void sim_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
}

static void sleep_until(uint64_t ns)
{
	struct timespec until = { .tv_sec = (time_t)(ns / 1000000000u),
				  .tv_nsec = (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* Waits for the event or data that the task waits for; *@ready_ns is then its time. The caller holds the lock. */
static void wait_for_cause(struct sim_task *task, uint64_t *ready_ns)
{
	if (task->kind == SIM_WAIT) {
		while (task->event->happened < task->round)
			pthread_cond_wait(&sim_device.changed, &sim_device.lock);
		if (task->event->happened_ns > *ready_ns)
			*ready_ns = task->event->happened_ns;
	}
	if (task->channel) {
		while (!task->channel->size && !task->channel->stopped)
			pthread_cond_wait(&sim_device.changed, &sim_device.lock);
		if (task->channel->size) {
			/* The task waited only if the channel was empty when it came. */
			if (task->channel->size == 1 && task->channel->pushed_ns > *ready_ns)
				*ready_ns = task->channel->pushed_ns;
			task->channel->size--;
			task->channel->popped++;
		}
		pthread_cond_broadcast(&sim_device.changed);
	}
}

static void run_task(struct sim_stream *stream, struct sim_task *task)
{
	uint64_t ready_ns = task->sent_ns + START_DELAY_NS;

	if (stream->free_ns > ready_ns)
		ready_ns = stream->free_ns;
	task->start_ns = ready_ns;
	wait_for_cause(task, &ready_ns);
	/* A kernel that waits for data is running; a wait for an event is a wait of the queue. */
	if (!task->channel)
		task->start_ns = ready_ns;
	task->end_ns = ready_ns + task->set_ns;
	if (sim_now() < task->end_ns) {
		pthread_mutex_unlock(&sim_device.lock);
		sleep_until(task->end_ns);
		pthread_mutex_lock(&sim_device.lock);
	}
	sim_counter_stamp(&sim_device.counter, task);
	stream->free_ns = task->end_ns;
	if (task->kind == SIM_RECORD) {
		task->event->happened++;
		task->event->happened_ns = task->end_ns;
		pthread_cond_broadcast(&sim_device.changed);
	}
}

static void *stream_main(void *argument)
{
	struct sim_stream *stream = argument;

	prctl(PR_SET_TIMERSLACK, 1);
	pthread_mutex_lock(&sim_device.lock);
	while (!stream->stop) {
		struct sim_task *task = stream->first;

		if (!task) {
			pthread_cond_wait(&stream->wake, &sim_device.lock);
			continue;
		}
		run_task(stream, task);
		stream->first = task->next_in_stream;
		if (!stream->first)
			stream->last = NULL;
		task->done = true;
		stream->waiting--;
		if (++stream->done >= stream->awaited) {
			stream->awaited = UINT64_MAX;
			pthread_cond_broadcast(&sim_device.changed);
		}
	}
	pthread_mutex_unlock(&sim_device.lock);
	return NULL;
}

SIM_EXPORT struct sim_stream *sim_stream_create(void)
{
	struct sim_stream *stream = calloc(1, sizeof(*stream));

	sim_begin();
	if (!stream)
		return NULL;
	pthread_mutex_lock(&sim_device.lock);
	if (sim_device.stream_count == SIM_STREAMS_MAX) {
		pthread_mutex_unlock(&sim_device.lock);
		free(stream);
		return NULL;
	}
	stream->id = (uint16_t)(SIM_FIRST_STREAM + sim_device.stream_count);
	stream->next_number = sim_device.first_number;
	stream->awaited = UINT64_MAX;
	pthread_cond_init(&stream->wake, NULL);
	pthread_mutex_init(&stream->send_lock, NULL);
	if (pthread_create(&stream->thread, NULL, stream_main, stream) != 0) {
		pthread_mutex_unlock(&sim_device.lock);
		free(stream);
		return NULL;
	}
	pthread_setname_np(stream->thread, "ascend-stream");
	sim_device.streams[sim_device.stream_count++] = stream;
	pthread_mutex_unlock(&sim_device.lock);
	return stream;
}

/* The stream stays in the device's table, so that its number is not reused. */
SIM_EXPORT void sim_stream_destroy(struct sim_stream *stream)
{
	sim_stream_wait(stream, -1);
	pthread_mutex_lock(&sim_device.lock);
	stream->stop = true;
	pthread_cond_signal(&stream->wake);
	pthread_cond_broadcast(&sim_device.changed);
	pthread_mutex_unlock(&sim_device.lock);
	pthread_join(stream->thread, NULL);
}

SIM_EXPORT int sim_stream_wait(struct sim_stream *stream, int32_t timeout_ms)
{
	uint64_t until_ns = sim_now() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000u;
	struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000u),
				  .tv_nsec = (long)(until_ns % 1000000000u) };
	uint64_t goal;
	int err = 0;

	pthread_mutex_lock(&sim_device.lock);
	goal = stream->sent;
	while (stream->done < goal && !stream->stop && err != ETIMEDOUT) {
		if (goal < stream->awaited)
			stream->awaited = goal;
		if (timeout_ms < 0)
			pthread_cond_wait(&sim_device.changed, &sim_device.lock);
		else
			err = pthread_cond_timedwait(&sim_device.changed, &sim_device.lock, &until);
	}
	err = stream->done < goal ? -1 : 0;
	pthread_mutex_unlock(&sim_device.lock);
	return err;
}

SIM_EXPORT int sim_event_wait(struct sim_event *event)
{
	uint64_t goal;

	pthread_mutex_lock(&sim_device.lock);
	goal = event->recorded;
	while (event->happened < goal)
		pthread_cond_wait(&sim_device.changed, &sim_device.lock);
	pthread_mutex_unlock(&sim_device.lock);
	return 0;
}

SIM_EXPORT struct sim_task *sim_task_new(const struct sim_task *task)
{
	struct sim_task *copy = malloc(sizeof(*copy));

	if (copy) {
		*copy = *task;
		copy->tid = sim_tid();
	}
	return copy;
}

/* The driver call in which all calls of the layers above end. Fails while the queue is full. */
SIM_EXPORT int halSqTaskSend(uint32_t device, struct halTaskSendInfo *info)
{
	struct sim_sqe *sqe = (struct sim_sqe *)info->sqe_addr;
	struct sim_task *task = sqe->task;
	struct sim_stream *stream;
	int err = DRV_ERROR_NONE;

	pthread_mutex_lock(&sim_device.lock);
	stream = sim_device.streams[info->sqId - SIM_FIRST_STREAM];
	if (stream->waiting == SIM_QUEUE_DEPTH) {
		sim_device.failed_sends++;
		err = DRV_ERROR_NO_RESOURCES;
		goto unlock;
	}
	task->stream = sqe->rt_stream_id;
	task->number = sqe->task_id;
	task->sent_ns = sim_now();
	task->next = task->next_in_stream = NULL;
	*sim_device.tasks_end = task;
	sim_device.tasks_end = &task->next;
	if (stream->last)
		stream->last->next_in_stream = task;
	else
		stream->first = task;
	stream->last = task;
	stream->sent++;
	if (!stream->waiting++)
		pthread_cond_signal(&stream->wake);
	sim_counter_sent(&sim_device.counter, task->sent_ns);
unlock:
	pthread_mutex_unlock(&sim_device.lock);
	return err;
}

struct block {
	size_t bytes;
	char padding[MEMORY_ALIGN - sizeof(size_t)];
};

SIM_EXPORT int halMemAlloc(void **memory, unsigned long long bytes, unsigned long long flags)
{
	struct block *block =
		aligned_alloc(MEMORY_ALIGN, sizeof(*block) + ((bytes + MEMORY_ALIGN - 1) &
							      ~(MEMORY_ALIGN - 1ull)));

	if (!block)
		return 6;
	block->bytes = bytes;
	*memory = block + 1;
	pthread_mutex_lock(&sim_device.lock);
	sim_device.allocations++;
	sim_device.allocated += bytes;
	if (sim_device.allocated > sim_device.peak)
		sim_device.peak = sim_device.allocated;
	pthread_mutex_unlock(&sim_device.lock);
	return DRV_ERROR_NONE;
}

SIM_EXPORT int halMemFree(void *memory)
{
	struct block *block = (struct block *)memory - 1;

	pthread_mutex_lock(&sim_device.lock);
	sim_device.frees++;
	sim_device.allocated -= block->bytes;
	pthread_mutex_unlock(&sim_device.lock);
	free(block);
	return DRV_ERROR_NONE;
}

SIM_EXPORT struct sim_call *sim_call_begin(const char *level, const char *name, bool connected)
{
	struct sim_call *call = calloc(1, sizeof(*call));

	sim_begin();
	if (!call)
		abort();
	call->level = level;
	call->name = name;
	call->tid = sim_tid();
	if (connected)
		call->connection = __atomic_add_fetch(&sim_device.connections, 1, __ATOMIC_RELAXED);
	call->start_raw_ns = sim_clock_ns(CLOCK_MONOTONIC_RAW);
	call->start_ns = sim_now();
	return call;
}

SIM_EXPORT void sim_call_end(struct sim_call *call)
{
	call->end_ns = sim_now();
	pthread_mutex_lock(&sim_device.lock);
	*sim_device.calls_end = call;
	sim_device.calls_end = &call->next;
	pthread_mutex_unlock(&sim_device.lock);
}
