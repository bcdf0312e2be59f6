/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/link_closer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* The threads wait in the kernel, all for the same grace periods. */
#define THREADS_MAX 8

struct waiting {
	struct waiting *next;
	struct probe_link *link;
};

struct link_closer {
	pthread_t threads[THREADS_MAX];
	int thread_count;
	int idle; /* number of idle threads */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct waiting *first;
	bool ending;
};

/* Links are closed in any order. Returns NULL when all are closed and the closer ends. */
static struct waiting *next_waiting(struct link_closer *closer)
{
	struct waiting *waiting;

	pthread_mutex_lock(&closer->lock);
	closer->idle++;
	while (!closer->first && !closer->ending)
		pthread_cond_wait(&closer->changed, &closer->lock);
	closer->idle--;
	waiting = closer->first;
	if (waiting)
		closer->first = waiting->next;
	pthread_mutex_unlock(&closer->lock);
	return waiting;
}

static void *run(void *context)
{
	struct waiting *waiting;

	pthread_setname_np(pthread_self(), "profbpfd/close");
	while ((waiting = next_waiting(context))) {
		probe_link_free(waiting->link);
		free(waiting);
	}
	return NULL;
}

struct link_closer *link_closer_new(void)
{
	struct link_closer *closer = calloc(1, sizeof(*closer));

	if (!closer)
		return NULL;
	pthread_mutex_init(&closer->lock, NULL);
	pthread_cond_init(&closer->changed, NULL);
	return closer;
}

/* Starts a thread if all are busy. Returns false if there is no thread at all. */
static bool have_thread(struct link_closer *closer)
{
	bool busy;

	pthread_mutex_lock(&closer->lock);
	busy = closer->first || !closer->idle;
	pthread_mutex_unlock(&closer->lock);
	if (busy && closer->thread_count < THREADS_MAX &&
	    !pthread_create(&closer->threads[closer->thread_count], NULL, run, closer))
		closer->thread_count++;
	return closer->thread_count > 0;
}

void link_closer_add(struct link_closer *closer, struct probe_link *link)
{
	struct waiting *waiting;

	if (!link)
		return;
	waiting = have_thread(closer) ? malloc(sizeof(*waiting)) : NULL;
	if (!waiting) {
		probe_link_free(link);
		return;
	}
	waiting->link = link;
	pthread_mutex_lock(&closer->lock);
	waiting->next = closer->first;
	closer->first = waiting;
	pthread_cond_signal(&closer->changed);
	pthread_mutex_unlock(&closer->lock);
}

void link_closer_free(struct link_closer *closer)
{
	if (!closer)
		return;
	pthread_mutex_lock(&closer->lock);
	closer->ending = true;
	pthread_cond_broadcast(&closer->changed);
	pthread_mutex_unlock(&closer->lock);
	for (int i = 0; i < closer->thread_count; i++)
		pthread_join(closer->threads[i], NULL);
	pthread_cond_destroy(&closer->changed);
	pthread_mutex_destroy(&closer->lock);
	free(closer);
}
