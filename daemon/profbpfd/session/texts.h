/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts.h - string arguments of calls, by the key that calls name them by.
 *
 * A string travels in a record of its own when a call first has it; the reader puts it
 * here, the writer gets it for each call that names it. Those that no call has named for
 * long are forgotten when there are too many.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_TEXTS_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many are kept at most, and always the half of them that were put or named last. */
#define TEXTS_MAX 262144

struct texts;

/* texts_new - an empty store, or NULL without memory; texts_free() accepts NULL */
struct texts *texts_new(void);
void texts_free(struct texts *texts);

/*
 * texts_put - keep the string of a key, or the one that is kept already
 *
 * Returns true if it forgot others to make room: who sends each string only once is to
 * be told to send them again. Without memory the string is unknown.
 */
bool texts_put(struct texts *texts, uint64_t key, const char *text, size_t length);

/* texts_has - is the string of @key known? It is kept as if it had been put now. */
bool texts_has(struct texts *texts, uint64_t key);

/*
 * texts_get - the string of @key
 *
 * Copies at most @size - 1 bytes and a NUL. Returns its length, or 0.
 */
size_t texts_get(struct texts *texts, uint64_t key, char *text, size_t size);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_TEXTS_H */
