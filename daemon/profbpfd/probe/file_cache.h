/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_cache.h - caches the functions found in files, so that the daemon reads each file once.
 *
 * The key of a file is its device, inode, size, time of last modification and time of
 * last change: only root can write to a file without changing any of them. The
 * build id is not part of the key, because the author of a file can choose it. Files
 * that changed within the last seconds are not cached, because timestamps have a
 * granularity. The cache holds the functions that the catalogs select; sessions with
 * other catalogs read the file again.
 *
 * Bounded in memory: the least recently used entries are dropped. Any number of
 * threads may use a cache; a view belongs to one session.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_CACHE_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/catalog/catalog.h"
#include "daemon/common/probed_file.h"

#define FILE_CACHE_BYTES (64u << 20) /* default limit */

struct file_cache;
struct file_view;

/* file_cache_new - keeps about @bytes at most; NULL without memory */
struct file_cache *file_cache_new(size_t bytes);

/* file_cache_free - all views must have been freed; accepts NULL */
void file_cache_free(struct file_cache *cache);

/*
 * file_view_new - a view of files with these catalogs
 *
 * @cache may be NULL: then every file is read. @catalogs must stay unchanged
 * until file_view_free(). Returns NULL without memory.
 */
struct file_view *file_view_new(struct file_cache *cache, const struct catalogs *catalogs,
				bool optimized_nop);
void file_view_free(struct file_view *view);

/* file_view_read - like probed_file_read(); of a cached file it reads only the identity */
int file_view_read(struct file_view *view, struct probed_file *file, int fd, const char *path,
		   char *error, size_t error_size);

struct file_cache_stats {
	uint64_t hits, misses;
	size_t files, bytes; /* kept now */
};

void file_cache_stats(struct file_cache *cache, struct file_cache_stats *stats);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_CACHE_H */
