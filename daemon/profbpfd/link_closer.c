/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/link_closer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct waiting {
	struct waiting *next;
	struct probe_link *link;
};

struct link_closer {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct waiting *first;
	bool started;
	bool ending;
};

/* The order does not matter. NULL when all are closed and no more will come. */
static struct waiting *next_waiting(struct link_closer *closer)
{
	struct waiting *waiting;

	pthread_mutex_lock(&closer->lock);
	while (!closer->first && !closer->ending)
		pthread_cond_wait(&closer->changed, &closer->lock);
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

void link_closer_add(struct link_closer *closer, struct probe_link *link)
{
	struct waiting *waiting;

	if (!link)
		return;
	waiting = malloc(sizeof(*waiting));
	if (waiting && !closer->started)
		closer->started = !pthread_create(&closer->thread, NULL, run, closer);
	if (!waiting || !closer->started) {
		free(waiting);
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
	pthread_cond_signal(&closer->changed);
	pthread_mutex_unlock(&closer->lock);
	if (closer->started)
		pthread_join(closer->thread, NULL);
	pthread_cond_destroy(&closer->changed);
	pthread_mutex_destroy(&closer->lock);
	free(closer);
}
