/* SPDX-License-Identifier: Apache-2.0 */
#include "device/correlated.h"

#include <pthread.h>

struct call {
	uint64_t number; /* 0 = none */
	uint64_t start_ns, dur_ns;
	uint32_t tid;
};

struct waiting {
	struct stream_task task;
	uint64_t number;
	unsigned int looks;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all variables below */
static struct call calls[CORRELATED_CALLS];
static struct waiting waiting[CORRELATED_WAITING];
static unsigned int waiting_count;

void correlated_call(uint64_t number, uint32_t tid, uint64_t start_ns, uint64_t dur_ns)
{
	struct call *call = &calls[number & (CORRELATED_CALLS - 1)];

	pthread_mutex_lock(&lock);
	if (call->number != number || call->start_ns > start_ns)
		*call = (struct call){ number, start_ns, dur_ns, tid };
	pthread_mutex_unlock(&lock);
}

/* Called with the lock held. */
static bool add_call(struct stream_task *task, uint64_t number)
{
	const struct call *call = &calls[number & (CORRELATED_CALLS - 1)];

	if (!number || call->number != number)
		return false;
	task->tid = call->tid;
	task->enqueue_ns = call->start_ns;
	task->enqueue_dur_ns = call->dur_ns;
	return true;
}

void correlated_task(struct stream_writer *writer, struct stream_task *task, int device,
		     uint64_t number)
{
	stream_writer_begin(writer);
	if (device < 0 || !task->start_ns || !task->end_ns) {
		stream_writer_untimed(writer);
		return;
	}
	task->device = (uint32_t)device;
	task->correlation = number;
	pthread_mutex_lock(&lock);
	if (add_call(task, number) || waiting_count == CORRELATED_WAITING)
		stream_writer_put(writer, task);
	else
		waiting[waiting_count++] = (struct waiting){ *task, number, 0 };
	pthread_mutex_unlock(&lock);
}

void correlated_settle(struct stream_writer *writer, bool last)
{
	unsigned int kept = 0;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < waiting_count; i++) {
		struct waiting *one = &waiting[i];

		if (add_call(&one->task, one->number) || last ||
		    ++one->looks >= CORRELATED_PATIENCE)
			stream_writer_put(writer, &one->task);
		else
			waiting[kept++] = *one;
	}
	waiting_count = kept;
	pthread_mutex_unlock(&lock);
}
