/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_text.h - who and why of a piece of idle time, in words.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_TEXT_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/analyse/idle/idle_piece.h"
#include "lib/base/map.h"
#include "analyzer/model/model.h"

/* Cache of the texts made so far. Zeroed is empty. */
struct idle_names {
	struct map ids; /* (kind, id) -> string */
	struct map drivers; /* (driver, command) -> string */
};

/* idle_names_free - frees the cache; the texts belong to the model */
void idle_names_free(struct idle_names *names);

/*
 * idle_name_who - returns the string id of a piece's who
 *
 * "NAME TID" for threads, the function's name, "/dev/NODE ioctl 0xCOMMAND", the device's
 * name; 0 if who is not known, INDEX_NONE without memory.
 */
uint32_t idle_name_who(struct idle_names *names, struct model *model,
		       const struct idle_piece *piece);

/*
 * idle_describe - writes the reason in words to @text (of @size bytes, always terminated)
 *
 * For a wait for another thread the text says what that thread mostly did during the wait, and if
 * it waited for a third thread, what that one did: three threads deep.
 */
void idle_describe(const struct model *model, const struct idle_tools *tools,
		   const struct idle_piece *piece, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_TEXT_H */
