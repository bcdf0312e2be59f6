/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session/texts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/map.h"
#include "lib/base/strings.h"

/* The strings that were put or used since a certain time. */
struct generation {
	struct map ids; /* ids of strings, by key */
	struct string_table *strings;
};

struct texts {
	pthread_mutex_t lock;
	struct generation young;
	struct generation old; /* the previous "young"; dropped when that is full again */
};

static void generation_free(struct generation *g)
{
	map_free(&g->ids);
	string_table_free(g->strings);
	*g = (struct generation){ 0 };
}

struct texts *texts_new(void)
{
	struct texts *texts = calloc(1, sizeof(*texts));

	if (!texts)
		return NULL;
	texts->young.strings = string_table_new();
	if (!texts->young.strings) {
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
	generation_free(&texts->young);
	generation_free(&texts->old);
	free(texts);
}

/* Starts a new generation; does nothing without memory. Returns true if strings were dropped. */
static bool age(struct texts *texts)
{
	struct generation young = { .strings = string_table_new() };
	bool forgot = texts->old.ids.count > 0;

	if (!young.strings)
		return false;
	generation_free(&texts->old);
	texts->old = texts->young;
	texts->young = young;
	return forgot;
}

static bool add(struct texts *texts, uint64_t key, const char *text, size_t length)
{
	bool forgot = texts->young.ids.count >= TEXTS_MAX / 2 && age(texts);
	uint32_t id = string_table_add(texts->young.strings, text, length);

	if (id != STRING_NONE)
		map_put(&texts->young.ids, key, id);
	return forgot;
}

bool texts_put(struct texts *texts, uint64_t key, const char *text, size_t length)
{
	bool forgot = false;

	pthread_mutex_lock(&texts->lock);
	if (map_get(&texts->young.ids, key) == MAP_NONE)
		forgot = add(texts, key, text, length);
	pthread_mutex_unlock(&texts->lock);
	return forgot;
}

/* Moves an old string that is in use to "young", if there is room. */
static bool renew(struct texts *texts, uint64_t key)
{
	uint32_t id = map_get(&texts->old.ids, key);

	if (id == MAP_NONE)
		return false;
	if (texts->young.ids.count < TEXTS_MAX / 2)
		add(texts, key, string_table_get(texts->old.strings, id),
		    string_table_length(texts->old.strings, id));
	return true;
}

bool texts_has(struct texts *texts, uint64_t key)
{
	bool has;

	pthread_mutex_lock(&texts->lock);
	has = map_get(&texts->young.ids, key) != MAP_NONE || renew(texts, key);
	pthread_mutex_unlock(&texts->lock);
	return has;
}

size_t texts_get(struct texts *texts, uint64_t key, char *text, size_t size)
{
	const struct generation *g = &texts->young;
	size_t length = 0;
	uint32_t id;

	if (!size)
		return 0;
	pthread_mutex_lock(&texts->lock);
	id = map_get(&g->ids, key);
	if (id == MAP_NONE) {
		g = &texts->old;
		id = map_get(&g->ids, key);
	}
	if (id != MAP_NONE) {
		length = string_table_length(g->strings, id);
		if (length >= size)
			length = size - 1;
		memcpy(text, string_table_get(g->strings, id), length);
	}
	pthread_mutex_unlock(&texts->lock);
	text[length] = '\0';
	return length;
}
