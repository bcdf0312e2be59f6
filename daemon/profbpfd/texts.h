/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts.h - string arguments of calls, until the call they belong to is written.
 *
 * The string travels in a record of its own, written at entry, possibly on
 * another CPU than the call's. The reader puts it here, the writer takes it.
 */
#ifndef PROFBPF_DAEMON_TEXTS_H
#define PROFBPF_DAEMON_TEXTS_H

#include <stddef.h>
#include <stdint.h>

/* Room is made as it is needed, for less than so many; then the oldest go, mostly of calls that never return. */
#define TEXTS_MAX 262144

struct texts;

/* texts_new - an empty store, or NULL without memory; texts_free() accepts NULL */
struct texts *texts_new(void);
void texts_free(struct texts *texts);

/* texts_put - keep the string of the call that thread @tid began at @ts_ns */
void texts_put(struct texts *texts, uint32_t tid, uint64_t ts_ns, const char *text, size_t length);

/*
 * texts_take - the string of a call, which is forgotten
 *
 * Copies at most @size - 1 bytes and a NUL. Returns its length, or 0.
 */
size_t texts_take(struct texts *texts, uint32_t tid, uint64_t ts_ns, char *text, size_t size);

#endif /* PROFBPF_DAEMON_TEXTS_H */
