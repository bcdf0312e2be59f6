/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/file_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <time.h>

#define BUCKETS 1024
#define SETTLED_S 2 /* if a file has not changed for this time, later changes alter its timestamps */

struct identity {
	dev_t dev;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
};

/* The selection of symbols by a set of catalogs; sets with the same selection share an object. */
struct wants {
	LIST_ENTRY(wants) list;
	char *text;
	size_t size;
	bool optimized_nop;
	size_t users; /* entries and views */
};

struct entry {
	TAILQ_ENTRY(entry) used; /* least recently used first */
	LIST_ENTRY(entry) bucket;
	struct identity identity;
	struct wants *wants;
	struct probed_file file; /* without pointers into catalogs */
	char *error;
	size_t bytes;
};

struct file_cache {
	pthread_mutex_t lock;
	LIST_HEAD(, wants) wants;
	TAILQ_HEAD(, entry) used;
	LIST_HEAD(, entry) bucket[BUCKETS];
	size_t limit;
	struct file_cache_stats stats;
};

struct file_view {
	struct file_cache *cache;
	const struct catalogs *catalogs;
	bool optimized_nop;
	struct wants *wants;
};

struct file_cache *file_cache_new(size_t bytes)
{
	struct file_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	pthread_mutex_init(&cache->lock, NULL);
	LIST_INIT(&cache->wants);
	TAILQ_INIT(&cache->used);
	cache->limit = bytes;
	return cache;
}

static void release_wants(struct wants *wants)
{
	if (--wants->users)
		return;
	LIST_REMOVE(wants, list);
	free(wants->text);
	free(wants);
}

static void free_entry(struct entry *e)
{
	probed_file_free(&e->file);
	free(e->error);
	free(e);
}

static void drop(struct file_cache *cache, struct entry *e)
{
	TAILQ_REMOVE(&cache->used, e, used);
	LIST_REMOVE(e, bucket);
	cache->stats.bytes -= e->bytes;
	cache->stats.files--;
	release_wants(e->wants);
	free_entry(e);
}

void file_cache_free(struct file_cache *cache)
{
	if (!cache)
		return;
	while (!TAILQ_EMPTY(&cache->used))
		drop(cache, TAILQ_FIRST(&cache->used));
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* Describes everything in the catalogs that decides about the selection of symbols, in order. */
static char *describe_wants(const struct catalogs *catalogs, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < catalogs_count(catalogs); i++) {
		const struct catalog *c = catalogs_get(catalogs, i);

		for (size_t k = 0; k < c->function_count; k++)
			fprintf(out, "%s%s\n", c->functions[k].exclude ? "!" : "",
				c->functions[k].pattern);
		fputc('\n', out);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static struct wants *find_wants(struct file_cache *cache, char *text, size_t size,
				bool optimized_nop)
{
	struct wants *w;

	LIST_FOREACH(w, &cache->wants, list)
	{
		if (w->size == size && w->optimized_nop == optimized_nop &&
		    !memcmp(w->text, text, size)) {
			free(text);
			w->users++;
			return w;
		}
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		free(text);
		return NULL;
	}
	*w = (struct wants){
		.text = text, .size = size, .optimized_nop = optimized_nop, .users = 1
	};
	LIST_INSERT_HEAD(&cache->wants, w, list);
	return w;
}

struct file_view *file_view_new(struct file_cache *cache, const struct catalogs *catalogs,
				bool optimized_nop)
{
	struct file_view *view = calloc(1, sizeof(*view));
	size_t size;
	char *text;

	if (!view)
		return NULL;
	*view = (struct file_view){ .cache = cache,
				    .catalogs = catalogs,
				    .optimized_nop = optimized_nop };
	text = cache ? describe_wants(catalogs, &size) : NULL;
	if (text) {
		pthread_mutex_lock(&cache->lock);
		view->wants = find_wants(cache, text, size, optimized_nop);
		pthread_mutex_unlock(&cache->lock);
	}
	if (cache && !view->wants) {
		free(view);
		return NULL;
	}
	return view;
}

void file_view_free(struct file_view *view)
{
	if (!view)
		return;
	if (view->cache) {
		pthread_mutex_lock(&view->cache->lock);
		release_wants(view->wants);
		pthread_mutex_unlock(&view->cache->lock);
	}
	free(view);
}

static bool identify(int fd, struct identity *identity)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*identity = (struct identity){ st.st_dev, st.st_ino, st.st_size, st.st_mtim, st.st_ctim };
	return true;
}

static bool same_file(const struct identity *a, const struct identity *b)
{
	return a->dev == b->dev && a->inode == b->inode;
}

static bool same_contents(const struct identity *a, const struct identity *b)
{
	return same_file(a, b) && a->size == b->size && a->modified.tv_sec == b->modified.tv_sec &&
	       a->modified.tv_nsec == b->modified.tv_nsec &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool settled(const struct identity *identity)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return identity->changed.tv_sec < now.tv_sec - SETTLED_S &&
	       identity->modified.tv_sec < now.tv_sec - SETTLED_S;
}

static size_t bucket_of(const struct identity *identity)
{
	return (identity->inode ^ identity->inode >> 16 ^ identity->dev) % BUCKETS;
}

/* Looks up the functions in the catalogs of this session, which are different objects. */
static bool bind(struct probed_file *file, const struct catalogs *catalogs)
{
	for (size_t i = 0; i < file->count; i++) {
		struct probed_function *f = &file->functions[i];

		f->entry = catalog_match(catalogs, f->name, strlen(f->name));
		if (!f->entry)
			return false;
	}
	for (size_t i = 0; i < file->refused_count; i++) {
		struct refused_function *f = &file->refused[i];

		f->entry = catalog_match(catalogs, f->name, strlen(f->name));
		if (!f->entry)
			return false;
	}
	return true;
}

/* Returns 1 if the file is in the cache, 0 if not, or -ENOMEM. */
static int look_up(struct file_view *view, const struct identity *identity,
		   struct probed_file *file, char *error, size_t error_size)
{
	struct file_cache *cache = view->cache;
	struct entry *e;
	int found = 0;

	pthread_mutex_lock(&cache->lock);
	LIST_FOREACH(e, &cache->bucket[bucket_of(identity)], bucket)
	{
		if (e->wants != view->wants || !same_contents(&e->identity, identity))
			continue;
		found = probed_file_copy(file, &e->file) ? -ENOMEM : 1;
		snprintf(error, error_size, "%s", e->error ? e->error : "");
		TAILQ_REMOVE(&cache->used, e, used);
		TAILQ_INSERT_TAIL(&cache->used, e, used);
		break;
	}
	if (found)
		cache->stats.hits++;
	else
		cache->stats.misses++;
	pthread_mutex_unlock(&cache->lock);
	if (found == 1 && !bind(file, view->catalogs)) {
		probed_file_free(file);
		return 0;
	}
	return found;
}

static size_t entry_bytes(const struct entry *e)
{
	size_t bytes = sizeof(*e) + (e->file.count + 1) * sizeof(*e->file.functions) +
		       (e->file.refused_count + 1) * sizeof(*e->file.refused);

	/* 16: the allocator's overhead for each block. */
	for (size_t i = 0; i < e->file.count; i++)
		bytes += strlen(e->file.functions[i].name) + 16;
	for (size_t i = 0; i < e->file.refused_count; i++)
		bytes += strlen(e->file.refused[i].name) + 16;
	return bytes + (e->error ? strlen(e->error) : 0);
}

static struct entry *make_entry(struct file_view *view, const struct identity *identity,
				const struct probed_file *file, const char *error)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e || probed_file_copy(&e->file, file)) {
		free(e);
		return NULL;
	}
	for (size_t i = 0; i < e->file.count; i++)
		e->file.functions[i].entry = NULL;
	for (size_t i = 0; i < e->file.refused_count; i++)
		e->file.refused[i].entry = NULL;
	e->identity = *identity;
	e->wants = view->wants;
	e->error = error[0] ? strdup(error) : NULL;
	e->bytes = entry_bytes(e);
	return e;
}

/* Adds @e to the cache; drops the entry of an older state of the file, and entries beyond the limit. */
static void keep(struct file_cache *cache, struct entry *e)
{
	struct entry *old, *next;
	size_t b = bucket_of(&e->identity);

	pthread_mutex_lock(&cache->lock);
	for (old = LIST_FIRST(&cache->bucket[b]); old; old = next) {
		next = LIST_NEXT(old, bucket);
		if (same_file(&old->identity, &e->identity) &&
		    (old->wants == e->wants || !same_contents(&old->identity, &e->identity)))
			drop(cache, old);
	}
	while (e->bytes <= cache->limit && cache->stats.bytes + e->bytes > cache->limit)
		drop(cache, TAILQ_FIRST(&cache->used));
	if (e->bytes > cache->limit) {
		free_entry(e);
	} else {
		e->wants->users++;
		TAILQ_INSERT_TAIL(&cache->used, e, used);
		LIST_INSERT_HEAD(&cache->bucket[b], e, bucket);
		cache->stats.bytes += e->bytes;
		cache->stats.files++;
	}
	pthread_mutex_unlock(&cache->lock);
}

int file_view_read(struct file_view *view, struct probed_file *file, int fd, const char *path,
		   char *error, size_t error_size)
{
	struct identity before, after;
	struct entry *e;
	int err;

	if (!view->cache || !identify(fd, &before))
		return probed_file_read(file, fd, path, view->catalogs, view->optimized_nop, error,
					error_size);
	err = look_up(view, &before, file, error, error_size);
	if (err)
		return err < 0 ? err : 0;
	err = probed_file_read(file, fd, path, view->catalogs, view->optimized_nop, error,
			       error_size);
	if (err || !identify(fd, &after) || !same_contents(&before, &after) || !settled(&after))
		return err;
	e = make_entry(view, &after, file, error);
	if (e)
		keep(view->cache, e);
	return 0;
}

void file_cache_stats(struct file_cache *cache, struct file_cache_stats *stats)
{
	pthread_mutex_lock(&cache->lock);
	*stats = cache->stats;
	pthread_mutex_unlock(&cache->lock);
}
