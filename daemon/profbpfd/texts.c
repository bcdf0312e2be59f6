/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/texts.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/events.h"

#define TEXTS_FIRST 1024 /* places at the beginning; a power of two, as TEXTS_MAX */
#define NONE 0 /* no text: the first place is never used */

struct text {
	uint64_t ts_ns;
	uint32_t tid;
	uint32_t length;
	uint32_t next; /* in its bucket, or among the free places */
	uint32_t older, newer; /* of all that are kept */
	char text[REC_STRING_LEN];
};

struct texts {
	pthread_mutex_t lock;
	struct text *places;
	uint32_t *buckets; /* as many as places */
	uint32_t count;
	uint32_t free;
	uint32_t oldest, newest;
};

static uint32_t *bucket_of(const struct texts *texts, uint32_t tid, uint64_t ts_ns)
{
	uint64_t hash = (ts_ns ^ (uint64_t)tid << 40) * 0x9e3779b97f4a7c15ull;

	return &texts->buckets[(hash >> 32) & (texts->count - 1)];
}

static void add_free(struct texts *texts, uint32_t first)
{
	for (uint32_t i = texts->count; i-- > first;) {
		texts->places[i].next = texts->free;
		texts->free = i;
	}
}

static void link_to_bucket(struct texts *texts, uint32_t place)
{
	struct text *text = &texts->places[place];
	uint32_t *bucket = bucket_of(texts, text->tid, text->ts_ns);

	text->next = *bucket;
	*bucket = place;
}

/* Twice as many places; false if there is no memory, or no more are allowed. */
static bool grow(struct texts *texts)
{
	uint32_t count = texts->count ? 2 * texts->count : TEXTS_FIRST, before = texts->count;
	struct text *places;
	uint32_t *buckets;

	if (count > TEXTS_MAX)
		return false;
	places = realloc(texts->places, count * sizeof(*places));
	if (!places)
		return false;
	texts->places = places;
	buckets = calloc(count, sizeof(*buckets));
	if (!buckets)
		return false;
	free(texts->buckets);
	texts->buckets = buckets;
	texts->count = count;
	for (uint32_t i = texts->oldest; i != NONE; i = texts->places[i].newer)
		link_to_bucket(texts, i);
	add_free(texts, before ? before : NONE + 1);
	return true;
}

struct texts *texts_new(void)
{
	struct texts *texts = calloc(1, sizeof(*texts));

	if (!texts)
		return NULL;
	if (!grow(texts)) {
		free(texts->places);
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
	free(texts->places);
	free(texts->buckets);
	free(texts);
}

static void forget(struct texts *texts, uint32_t place)
{
	struct text *text = &texts->places[place];
	uint32_t *from = bucket_of(texts, text->tid, text->ts_ns);

	while (*from != place)
		from = &texts->places[*from].next;
	*from = text->next;
	if (text->older != NONE)
		texts->places[text->older].newer = text->newer;
	else
		texts->oldest = text->newer;
	if (text->newer != NONE)
		texts->places[text->newer].older = text->older;
	else
		texts->newest = text->older;
	text->next = texts->free;
	texts->free = place;
}

static uint32_t take_place(struct texts *texts)
{
	uint32_t place;

	if (texts->free == NONE && !grow(texts))
		forget(texts, texts->oldest);
	place = texts->free;
	texts->free = texts->places[place].next;
	return place;
}

void texts_put(struct texts *texts, uint32_t tid, uint64_t ts_ns, const char *text, size_t length)
{
	struct text *slot;
	uint32_t place;

	if (length >= REC_STRING_LEN)
		length = REC_STRING_LEN - 1;
	pthread_mutex_lock(&texts->lock);
	place = take_place(texts);
	slot = &texts->places[place];
	slot->ts_ns = ts_ns;
	slot->tid = tid;
	slot->length = (uint32_t)length;
	memcpy(slot->text, text, length);
	slot->older = texts->newest;
	slot->newer = NONE;
	if (texts->newest != NONE)
		texts->places[texts->newest].newer = place;
	else
		texts->oldest = place;
	texts->newest = place;
	link_to_bucket(texts, place);
	pthread_mutex_unlock(&texts->lock);
}

size_t texts_take(struct texts *texts, uint32_t tid, uint64_t ts_ns, char *text, size_t size)
{
	size_t length = 0;
	uint32_t place;

	if (!size)
		return 0;
	pthread_mutex_lock(&texts->lock);
	place = *bucket_of(texts, tid, ts_ns);
	while (place != NONE && (texts->places[place].tid != tid || texts->places[place].ts_ns != ts_ns))
		place = texts->places[place].next;
	if (place != NONE) {
		length = texts->places[place].length;
		if (length >= size)
			length = size - 1;
		memcpy(text, texts->places[place].text, length);
		forget(texts, place);
	}
	pthread_mutex_unlock(&texts->lock);
	text[length] = '\0';
	return length;
}
