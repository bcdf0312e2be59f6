/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/texts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/events.h"

/* A ring in order of arrival; a call's string is searched from the newest end, where it lies. */
struct text {
	uint64_t ts_ns;
	uint32_t tid;
	uint32_t length;
	char text[REC_STRING_LEN];
};

struct texts {
	pthread_mutex_t lock;
	struct text *ring;
	uint64_t head;
	uint64_t oldest;
};

struct texts *texts_new(void)
{
	struct texts *texts = calloc(1, sizeof(*texts));

	if (!texts)
		return NULL;
	texts->ring = calloc(TEXTS_MAX, sizeof(*texts->ring));
	if (!texts->ring) {
		free(texts);
		return NULL;
	}
	pthread_mutex_init(&texts->lock, NULL);
	return texts;
}

void texts_free(struct texts *texts)
{
	if (!texts)
		return;
	pthread_mutex_destroy(&texts->lock);
	free(texts->ring);
	free(texts);
}

void texts_put(struct texts *texts, uint32_t tid, uint64_t ts_ns, const char *text, size_t length)
{
	struct text *slot;

	if (length >= REC_STRING_LEN)
		length = REC_STRING_LEN - 1;
	pthread_mutex_lock(&texts->lock);
	slot = &texts->ring[texts->head % TEXTS_MAX];
	slot->ts_ns = ts_ns;
	slot->tid = tid;
	slot->length = length;
	memcpy(slot->text, text, length);
	texts->head++;
	if (texts->head - texts->oldest > TEXTS_MAX)
		texts->oldest = texts->head - TEXTS_MAX;
	pthread_mutex_unlock(&texts->lock);
}

static void skip_taken(struct texts *texts)
{
	while (texts->oldest < texts->head && !texts->ring[texts->oldest % TEXTS_MAX].ts_ns)
		texts->oldest++;
}

size_t texts_take(struct texts *texts, uint32_t tid, uint64_t ts_ns, char *text, size_t size)
{
	size_t length = 0;

	if (!size)
		return 0;
	pthread_mutex_lock(&texts->lock);
	for (uint64_t i = texts->head; i-- > texts->oldest;) {
		struct text *slot = &texts->ring[i % TEXTS_MAX];

		if (slot->tid != tid || slot->ts_ns != ts_ns)
			continue;
		length = slot->length < size ? slot->length : size - 1;
		memcpy(text, slot->text, length);
		slot->ts_ns = 0;
		break;
	}
	skip_taken(texts);
	pthread_mutex_unlock(&texts->lock);
	text[length] = '\0';
	return length;
}
