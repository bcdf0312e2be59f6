/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill.h - large blocks of memory that lie in temporary files.
 *
 * A recording of an hour makes gigabytes of rows. Blocks of SPILL_FROM bytes and more, beyond what is to be kept in
 * memory, are mappings of files without a name, which are gone when the program is, however it ends. Their pages are
 * dropped from the process while more than SPILL_RESIDENT bytes of them are in use; the kernel keeps them for as long as it has room,
 * and has them on the disk otherwise. So the program's own memory is bounded whatever the length of a recording, and
 * a machine with little memory takes longer instead of killing it.
 *
 * spill_wrap.c puts the blocks in the place of those of malloc() in the program, by the linker's --wrap: all of them
 * in one place, and nothing that allocates has to know. It sorts large arrays, too, for which the C library would
 * allocate as much again.
 *
 * Room on the disk is reserved before it is used. Where a file system cannot do that (ZFS, NFS before 4.2), zeros are written; if
 * it still has none when a page is written, the program ends with a message instead of a signal. One thread may allocate, and others block SIGPROF (lib/base/ticker.h does): its handler looks four
 * thousand times a second what is in use, for the kernel maps more around each page that is touched, some 50 MB in a millisecond:
 * the longer a recording, the likelier it is that as much comes between two looks.
 */
#ifndef PROFBPF_ANALYZER_CLI_SPILL_H
#define PROFBPF_ANALYZER_CLI_SPILL_H

#include <stdbool.h>
#include <stddef.h>

#define SPILL_FROM (4u << 20) /* bytes */
#define SPILL_LEFT (1u << 30) /* bytes of a disk that are left to others, or a twentieth of it, whichever is less */
#define SPILL_RESIDENT (40u << 20)

/*
 * spill_into - from now on blocks may lie in the first of these folders in which files can be made
 *
 * Those of malloc() come first, until @keep bytes of large ones are in use. @folders ends with NULL and outlives the
 * program's blocks; entries that are "" are passed over, and file systems that are memory themselves.
 */
void spill_into(const char *const *folders, size_t keep);

/* Is there room in one of the folders for a block of @size bytes? */
bool spill_has_room(size_t size);

/* Bytes of large blocks that malloc() gave out; and is a block of @size bytes more still to be kept in memory? */
size_t spill_kept(void);
bool spill_keeps(size_t size);

/* Tell that malloc() gave out a large block, or that it was freed; smaller ones do not count. */
void spill_note(size_t given, size_t freed);

/*
 * spill_new - a block of zeros
 *
 * NULL if @size is below SPILL_FROM, before spill_into(), as long as enough is to be kept, or if no folder has room: then
 * it is for malloc() to try.
 */
void *spill_new(size_t size);

/*
 * spill_new_of - the same with the first @held bytes of @from in it
 *
 * They are written to the file: to touch each of its pages costs several times that.
 */
void *spill_new_of(size_t size, const void *from, size_t held);

/* The size of a block of spill_new(), which is at least what was asked for; 0 for any other address. */
size_t spill_size(const void *block);

/* A larger one with the same contents, which may lie elsewhere; NULL without room, then @block stays. */
void *spill_grow(void *block, size_t size);

/* spill_free - false if @block is none of spill_new() */
bool spill_free(void *block);

#endif /* PROFBPF_ANALYZER_CLI_SPILL_H */
