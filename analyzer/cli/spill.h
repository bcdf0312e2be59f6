/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill.h - large blocks of memory in temporary files.
 *
 * A recording of an hour makes gigabytes of rows. Blocks of SPILL_FROM bytes and more, beyond the amount that is kept
 * in memory, are mappings of unnamed files, which disappear when the program ends, however it ends. Their pages are
 * dropped from the process while more than SPILL_RESIDENT bytes of them are resident; the kernel caches them while it
 * has room, and writes them to the disk otherwise. So the program's own memory is bounded whatever the length of a
 * recording, and a machine with little memory takes longer instead of killing the program.
 *
 * spill_wrap.c replaces malloc() by these blocks throughout the program, with the linker's --wrap: the code is in one
 * place, and its callers are unchanged. It also sorts large arrays, for which the C library would allocate as much
 * again.
 *
 * Disk space is reserved before it is used. Where a file system cannot do that (ZFS, NFS before 4.2), zeros are
 * written; if there is still no space when a page is written, the program ends with a message instead of a signal.
 * Only one thread may allocate; other threads block SIGPROF (lib/base/ticker.h does): its handler checks the resident
 * size four thousand times a second, because the kernel maps more pages around each page that is touched, some 50 MB
 * in a millisecond: the longer a recording, the likelier it is that as much is mapped between two checks.
 */
#ifndef PROFBPF_ANALYZER_CLI_SPILL_H
#define PROFBPF_ANALYZER_CLI_SPILL_H

#include <stdbool.h>
#include <stddef.h>

#define SPILL_FROM (4u << 20) /* bytes */
#define SPILL_LEFT (1u << 30) /* bytes of a disk that stay free, or a twentieth of the disk, whichever is less */
#define SPILL_RESIDENT (40u << 20)

/*
 * spill_into - from now on blocks may be in the first of these folders in which files can be created
 *
 * Blocks come from malloc() until @keep bytes of large ones are in use. @folders ends with NULL and outlives the
 * program's blocks; "" entries and file systems in memory are skipped.
 */
void spill_into(const char *const *folders, size_t keep);

/* Does one of the folders have room for a block of @size bytes? */
bool spill_has_room(size_t size);

/* spill_kept: bytes of large blocks from malloc(). spill_keeps: is a further block of @size bytes kept in memory? */
size_t spill_kept(void);
bool spill_keeps(size_t size);

/* Records that malloc() returned a large block, or that it was freed; smaller blocks do not count. */
void spill_note(size_t given, size_t freed);

/*
 * spill_new - a block of zeros
 *
 * Returns NULL if @size is below SPILL_FROM, before spill_into(), while blocks are kept in memory, or if no folder
 * has room: then the caller tries malloc().
 */
void *spill_new(size_t size);

/*
 * spill_new_of - a block that begins with the @held bytes at @from; else as spill_new()
 *
 * The bytes are written to the file: touching each of its pages would cost several times as much.
 */
void *spill_new_of(size_t size, const void *from, size_t held);

/* The size of a block of spill_new(), at least the requested size; 0 for any other address. */
size_t spill_size(const void *block);

/* Returns a larger block with the same contents, possibly elsewhere; NULL without room, then @block stays valid. */
void *spill_grow(void *block, size_t size);

/* spill_free - free a block; returns false if @block is not from spill_new() */
bool spill_free(void *block);

#endif /* PROFBPF_ANALYZER_CLI_SPILL_H */
