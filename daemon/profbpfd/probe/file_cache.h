/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_cache.h - what was found in files, so that the daemon reads each once.
 *
 * A file is the same if device, inode, size, time of last modification and of
 * last change are: a write that leaves all five alone is not possible for those
 * who do not own the machine. The build id is not part of it, because whoever
 * makes a file can give it any. What changed within the last seconds is not
 * kept, for times have a granularity. Kept is what the catalogs want of a file;
 * sessions with other catalogs read it again.
 *
 * Bounded in memory: what was not used for longest is dropped. Any number of
 * threads may use a cache; a view belongs to one session.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_CACHE_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/catalog/catalog.h"
#include "daemon/common/probed_file.h"

#define FILE_CACHE_BYTES (64u << 20) /* kept by default */

struct file_cache;
struct file_view;

/* file_cache_new - keeps about @bytes at most; NULL without memory */
struct file_cache *file_cache_new(size_t bytes);

/* file_cache_free - after all views; NULL is fine */
void file_cache_free(struct file_cache *cache);

/*
 * file_view_new - look at files with these catalogs
 *
 * @cache may be NULL: then every file is read. @catalogs must stay unchanged
 * until file_view_free(). Returns NULL without memory.
 */
struct file_view *file_view_new(struct file_cache *cache, const struct catalogs *catalogs,
				bool optimized_nop);
void file_view_free(struct file_view *view);

/* file_view_read - as probed_file_read(); reads nothing but its identity of a file that is known */
int file_view_read(struct file_view *view, struct probed_file *file, int fd, const char *path,
		   char *error, size_t error_size);

struct file_cache_stats {
	uint64_t hits, misses;
	size_t files, bytes; /* kept now */
};

void file_cache_stats(struct file_cache *cache, struct file_cache_stats *stats);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_CACHE_H */
