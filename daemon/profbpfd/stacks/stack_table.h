/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_table.h - a session's stacks, each kept and sent once.
 *
 * A stack is a sequence of frames; a frame is a location in a file or a name. Ids are
 * those of message Stacks (proto/trace.proto); 0 stands for a row that could not be
 * kept. Used by one thread at a time.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_TABLE_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/session/item.h"

#define STACK_TABLE_STACKS_MAX (1u << 18) /* different stacks of a session; more become 0 */
#define STACK_TABLE_FRAMES_MAX (1u << 20)
#define STACK_DEPTH_MAX 1024 /* more than a record has; the analyzer reads no more */

struct stack_table;

struct stack_file {
	uint32_t dev; /* the file's identity: device, inode, */
	uint64_t inode;
	uint64_t size; /* size and time of the last change, 0 = unknown */
	int64_t mtime_ns;
	const char *path;
	const uint8_t *build_id;
	size_t build_id_size;
};

struct stack_frame {
	uint32_t kind; /* Profbpf__Stacks__Kind */
	uint32_t file; /* of stack_table_file(), 0 = none */
	uint32_t name; /* from stack_table_name(), 0 = the analyzer takes it from the file's symbols */
	uint32_t source;
	uint64_t offset; /* in the file, else the address */
	uint32_t line;
	uint32_t reserved; /* 0 */
};

/* stack_table_new - NULL without memory */
struct stack_table *stack_table_new(void);
void stack_table_free(struct stack_table *table);

/*
 * stack_table_close - with @closed new stacks get the id 0
 *
 * For stacks of an owner that has made too many. stack_table_left_out() counts them.
 */
void stack_table_close(struct stack_table *table, bool closed);
uint64_t stack_table_left_out(const struct stack_table *table);

/* stack_table_bytes - the approximate size of the table in a file, before compression */
uint64_t stack_table_bytes(const struct stack_table *table);

/* The id of a file, a name, a frame, a stack (innermost frame first); all are copied. */
uint32_t stack_table_file(struct stack_table *table, const struct stack_file *file);
uint32_t stack_table_name(struct stack_table *table, const char *name);
uint32_t stack_table_frame(struct stack_table *table, const struct stack_frame *frame);
uint32_t stack_table_stack(struct stack_table *table, const uint32_t *frames, size_t count);

/*
 * stack_table_known_file - the id of the last file of this identity whose size was known; 0 = none
 *
 * For a file that cannot be opened any more, because the process that mapped it is gone.
 */
uint32_t stack_table_known_file(const struct stack_table *table, uint32_t dev, uint64_t inode, const char *path);

/* stack_table_frame_kind - Profbpf__Stacks__Kind of a frame; -1 if there is none of this id */
int stack_table_frame_kind(const struct stack_table *table, uint32_t id);

/*
 * stack_table_take - an item for the writer with the rows that are new since the last call
 *
 * It must be written before any row that uses the ids. NULL if there are no new rows,
 * or without memory; then the next call tries again.
 */
struct item *stack_table_take(struct stack_table *table);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_TABLE_H */
