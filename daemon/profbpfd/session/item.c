/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session/item.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct item_queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct item *first;
	struct item **last;
	size_t bytes;
	size_t limit;
};

struct item *item_new(enum item_kind kind, size_t capacity)
{
	struct item *item = calloc(1, sizeof(*item));

	if (!item)
		return NULL;
	item->kind = kind;
	item->capacity = capacity;
	if (capacity) {
		item->data = malloc(capacity);
		if (!item->data) {
			free(item);
			return NULL;
		}
	}
	return item;
}

static void free_rows(struct item *item)
{
	struct task_row *tasks = item->data;
	struct coverage_row *coverage = item->data;
	struct statistics_row *statistics = item->data;
	struct cut_row *cuts = item->data;

	if (item->kind == ITEM_RECORDS || item->kind == ITEM_DEVICE || item->kind == ITEM_STACKS ||
	    item->kind == ITEM_ENDS || item->kind == ITEM_SHED)
		return; /* may be many, and own nothing */
	for (uint32_t i = 0; i < item->count; i++) {
		if (item->kind == ITEM_TASKS) {
			free(tasks[i].cmdline);
			free(tasks[i].exe);
		} else if (item->kind == ITEM_COVERAGE) {
			free(coverage[i].path);
		} else if (item->kind == ITEM_STATISTICS) {
			free(statistics[i].short_calls);
		} else if (item->kind == ITEM_CUT) {
			free(cuts[i].targets);
			if (cuts[i].ask.take)
				cuts[i].ask.take(cuts[i].ask.context, NULL);
		}
	}
}

void item_free(struct item *item)
{
	if (!item)
		return;
	if (item->data)
		free_rows(item);
	free(item->data);
	free(item);
}

int item_grow(struct item *item, size_t size)
{
	size_t capacity = item->capacity * 2 > item->size + size ? item->capacity * 2 :
								   item->size + size;
	void *data = realloc(item->data, capacity);

	if (!data)
		return -ENOMEM;
	item->data = data;
	item->capacity = capacity;
	return 0;
}

struct item_queue *item_queue_new(size_t limit_bytes)
{
	struct item_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->filled, NULL);
	queue->last = &queue->first;
	queue->limit = limit_bytes;
	return queue;
}

void item_queue_free(struct item_queue *queue)
{
	if (!queue)
		return;
	while (queue->first) {
		struct item *next = queue->first->next;

		item_free(queue->first);
		queue->first = next;
	}
	pthread_cond_destroy(&queue->filled);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

bool item_queue_push(struct item_queue *queue, struct item *item)
{
	bool records = item->kind == ITEM_RECORDS || item->kind == ITEM_DEVICE;
	bool taken;

	pthread_mutex_lock(&queue->lock);
	taken = !records || queue->bytes + item->size <= queue->limit;
	if (taken) {
		item->next = NULL;
		*queue->last = item;
		queue->last = &item->next;
		queue->bytes += item->size;
		pthread_cond_signal(&queue->filled);
	}
	pthread_mutex_unlock(&queue->lock);
	return taken;
}

struct item *item_queue_pop(struct item_queue *queue)
{
	struct item *item;

	pthread_mutex_lock(&queue->lock);
	while (!queue->first)
		pthread_cond_wait(&queue->filled, &queue->lock);
	item = queue->first;
	queue->first = item->next;
	if (!queue->first)
		queue->last = &queue->first;
	queue->bytes -= item->size;
	pthread_mutex_unlock(&queue->lock);
	return item;
}
