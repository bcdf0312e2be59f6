/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/capture/sleep_objects.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/profbpfd/host/drivers.h"
#include "daemon/profbpfd/host/socket_peers.h"
#include "daemon/profbpfd/encode/trace_values.h"
#include "lib/trace/column.h"

#define CACHE_SIZE 1024 /* a power of two */

/* The identity of an object. No padding, because it is hashed as bytes. */
struct key {
	uint64_t object;
	uint32_t device;
	uint32_t kind;
};

/* A thread that had the object open, and its descriptor. */
struct opened {
	uint32_t tid;
	int32_t fd; /* -1: unknown */
};

struct cached {
	struct key key;
	uint32_t id;
};

struct sleep_objects {
	struct string_table *keys;	/* bytes of struct key; its ids are the objects' ids */
	struct column_u32 kind;		/* not sent yet */
	struct column_u32 device;
	struct column_u64 object;
	struct column_u32 name;
	struct column_u32 peer;
	struct socket_peers *peers;
	struct cached cache[CACHE_SIZE];
};

struct sleep_objects *sleep_objects_new(void)
{
	struct sleep_objects *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->keys = string_table_new();
	o->peers = socket_peers_new();
	if (o->keys && o->peers)
		return o;
	sleep_objects_free(o);
	return NULL;
}

void sleep_objects_free(struct sleep_objects *o)
{
	if (!o)
		return;
	string_table_free(o->keys);
	socket_peers_free(o->peers);
	column_u32_free(&o->peer);
	column_u32_free(&o->kind);
	column_u32_free(&o->device);
	column_u64_free(&o->object);
	column_u32_free(&o->name);
	free(o);
}

/* Reads only procfs: a file system under the target's control might not answer. */
static bool is_inode(uint32_t tid, int32_t fd, uint64_t inode)
{
	char line[128], name[64];
	unsigned long found;
	bool same = false;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/fdinfo/%d", tid, fd);
	f = fopen(name, "re");
	if (!f)
		return false;
	while (!same && fgets(line, sizeof(line), f))
		same = sscanf(line, "ino: %lu", &found) == 1 && found == inode;
	fclose(f);
	return same;
}

/* Finds the path of an open file, if the descriptor still refers to it. */
static bool open_file(uint32_t tid, int32_t fd, uint64_t inode, char *path, size_t size)
{
	char link[64];
	ssize_t n;

	if (!is_inode(tid, fd, inode))
		return false;
	snprintf(link, sizeof(link), "/proc/%u/fd/%d", tid, fd);
	n = readlink(link, path, size - 1);
	if (n < 0)
		return false;
	path[n] = '\0';
	return path[0] == '/';
}

/* Finds the path of a mapped file in /proc/TID/maps. */
static bool mapped_file(uint32_t tid, const struct key *key, char *path, size_t size)
{
	unsigned int major, minor;
	unsigned long inode;
	size_t capacity = 0;
	char name[64];
	char *line = NULL;
	bool found = false;
	int at;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/maps", tid);
	f = fopen(name, "re");
	if (!f)
		return false;
	while (!found && getline(&line, &capacity, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		at = 0;
		if (sscanf(line, "%*x-%*x %*s %*x %x:%x %lu %n", &major, &minor, &inode, &at) < 3 ||
		    !at || inode != key->object || (major << 20 | minor) != key->device)
			continue;
		found = snprintf(path, size, "%s", line + at) > 0;
	}
	free(line);
	fclose(f);
	return found;
}

/* Returns the address of a socket's peer, and in *tgid its process if that is on this host. */
static uint32_t peer_of(struct sleep_objects *o, const struct key *key, uint32_t tid,
			struct string_table *strings, uint32_t *tgid)
{
	const struct socket_peer *peer = socket_peers_find(o->peers, tid, key->object);
	uint32_t id = *peer->address ? string_table_add_text(strings, peer->address) : 0;

	*tgid = peer->tgid;
	return id == STRING_NONE ? 0 : id;
}

static uint32_t name_of(const struct key *key, const struct opened *by,
			struct string_table *strings)
{
	struct driver_names names;
	char path[PATH_MAX] = "";
	bool known = false;
	uint32_t id;

	switch (key->kind) {
	case SLEEP_FILE:
	case SLEEP_DIRECTORY:
	case SLEEP_BLOCK:
	case SLEEP_PIPE:
		known = by->fd >= 0 ? open_file(by->tid, by->fd, key->object, path, sizeof(path))
				    : mapped_file(by->tid, key, path, sizeof(path));
		break;
	case SLEEP_CHARACTER:
		driver_lookup(key->device, &names);
		snprintf(path, sizeof(path), "%s", names.device);
		known = true;
		break;
	default: break;
	}
	if (!known)
		return 0;
	id = string_table_add_text(strings, path);
	return id == STRING_NONE ? 0 : id;
}

/* Anonymous files of a kind share an inode, so it is left out; for a character device its number is enough. */
static void settle_key(struct key *key)
{
	switch (key->kind) {
	case SLEEP_EVENTFD:
	case SLEEP_EPOLL:
	case SLEEP_TIMERFD:
	case SLEEP_SIGNALFD:
	case SLEEP_INOTIFY:
	case SLEEP_PIDFD:
	case SLEEP_ANONYMOUS: key->object = key->device = 0; break;
	case SLEEP_CHARACTER: key->object = 0; break;
	default: break;
	}
}

static uint32_t add_new(struct sleep_objects *o, const struct key *key, const struct opened *by,
			struct string_table *strings)
{
	uint32_t before = string_table_count(o->keys), id, peer = 0;

	if (before > SLEEP_OBJECTS_MAX || column_u32_reserve(&o->kind, 1) ||
	    column_u32_reserve(&o->device, 1) || column_u64_reserve(&o->object, 1) ||
	    column_u32_reserve(&o->name, 1) || column_u32_reserve(&o->peer, 1))
		return 0;
	id = string_table_add(o->keys, (const char *)key, sizeof(*key));
	if (id == STRING_NONE)
		return 0;
	if (id < before)
		return id;
	column_u32_push(&o->kind, trace_sleep_kind(key->kind));
	column_u32_push(&o->device, key->device);
	column_u64_push(&o->object, key->object);
	column_u32_push(&o->name, key->kind == SLEEP_INET ? peer_of(o, key, by->tid, strings, &peer)
							  : name_of(key, by, strings));
	column_u32_push(&o->peer, peer);
	return id;
}

static uint32_t add(struct sleep_objects *o, struct key key, const struct opened *by,
		    struct string_table *strings)
{
	struct cached *cached;
	uint64_t hash;

	settle_key(&key);
	if (key.kind == SLEEP_NOTHING || key.kind >= SLEEP_KINDS)
		return 0;
	hash = (key.object ^ (uint64_t)key.device << 32 ^ key.kind) * 0x9e3779b97f4a7c15ull;
	cached = &o->cache[hash >> 54 & (CACHE_SIZE - 1)];
	if (!cached->id || memcmp(&cached->key, &key, sizeof(key))) {
		cached->key = key;
		cached->id = add_new(o, &key, by, strings);
	}
	return cached->id;
}

uint32_t sleep_objects_add(struct sleep_objects *o, const struct rec_switch *r,
			   struct string_table *strings)
{
	const struct key key = { r->object, r->device, r->header.flags >> SWITCH_KIND_SHIFT };

	return add(o, key, &(struct opened){ r->prev_tid, r->fd }, strings);
}

uint32_t sleep_objects_add_ready(struct sleep_objects *o, const struct rec_wake *r,
				 struct string_table *strings)
{
	struct key key = { r->object, r->device, r->header.flags >> SWITCH_KIND_SHIFT };

	if (r->header.flags & WAKE_SENT) {
		key.object = socket_peers_other(o->peers, r->waker_tid, key.object, r->tid);
		if (!key.object)
			return 0;
	}
	return add(o, key, &(struct opened){ r->tid, r->fd }, strings);
}

bool sleep_objects_take(struct sleep_objects *o, Profbpf__SleepObjects *m)
{
	size_t count = o->kind.count;

	if (!count)
		return false;
	profbpf__sleep_objects__init(m);
	m->first_id = string_table_count(o->keys) - (uint32_t)count;
	COLUMN_EXPORT_ENUM_ALWAYS(&o->kind, m, kind);
	COLUMN_EXPORT(&o->device, m, device);
	COLUMN_EXPORT(&o->object, m, object);
	COLUMN_EXPORT(&o->name, m, name);
	COLUMN_EXPORT(&o->peer, m, peer);
	column_u32_clear(&o->kind);
	column_u32_clear(&o->device);
	column_u64_clear(&o->object);
	column_u32_clear(&o->name);
	column_u32_clear(&o->peer);
	return true;
}

void sleep_objects_clear(struct sleep_objects *o)
{
	string_table_clear(o->keys);
	memset(o->cache, 0, sizeof(o->cache));
	column_u32_clear(&o->kind);
	column_u32_clear(&o->device);
	column_u64_clear(&o->object);
	column_u32_clear(&o->name);
	column_u32_clear(&o->peer);
}
