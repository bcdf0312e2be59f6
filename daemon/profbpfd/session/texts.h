/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts.h - string arguments of calls, by their key in the calls' records.
 *
 * A string is sent in a separate record before the first call that has it; the reader stores it
 * here, the writer gets it for each call that names it. When there are too many, strings that
 * were not used for long are dropped.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_TEXTS_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most strings that are kept; the half of them that was used last is always kept. */
#define TEXTS_MAX 262144

struct texts;

/* texts_new - an empty store, or NULL without memory; texts_free() accepts NULL */
struct texts *texts_new(void);
void texts_free(struct texts *texts);

/*
 * texts_put - stores the string of a key, unless the key has one already
 *
 * Returns true if it dropped others to make room: the sender, which sends each string only once, must
 * then send them again. Without memory the string stays unknown.
 */
bool texts_put(struct texts *texts, uint64_t key, const char *text, size_t length);

/* texts_has - is the string of @key known? Counts as a use of it. */
bool texts_has(struct texts *texts, uint64_t key);

/*
 * texts_get - copies the string of @key
 *
 * Copies at most @size - 1 bytes and a NUL. Returns its length, or 0.
 */
size_t texts_get(struct texts *texts, uint64_t key, char *text, size_t size);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_TEXTS_H */
