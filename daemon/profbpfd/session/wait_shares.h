/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_shares.h - the part of the last seconds that each thread has spent in certain calls.
 *
 * Counted by whole seconds of CLOCK_MONOTONIC; the last WAIT_SHARES_S are summed up. Nested calls count once.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_WAIT_SHARES_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_WAIT_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#define WAIT_SHARES_S 10
#define WAIT_SHARES_MAX 4096 /* threads; further ones are ignored */

struct wait_shares;

/* wait_shares_new - empty; NULL without memory; wait_shares_free() accepts NULL */
struct wait_shares *wait_shares_new(void);
void wait_shares_free(struct wait_shares *shares);

/* A thread, and the purpose of the calls. */
struct wait_key {
	uint32_t purpose; /* chosen by the caller */
	uint32_t tgid, tid; /* tid 0: all threads of the process together */
};

/* wait_shares_add - adds a call; calls of a thread must be added in the order of their ends */
void wait_shares_add(struct wait_shares *shares, const struct wait_key *key, uint64_t start_ns, uint64_t end_ns);

/* wait_shares_has_thread - was time added for this purpose for a thread of the process with a number other than 0? */
bool wait_shares_has_thread(const struct wait_shares *shares, uint32_t purpose, uint32_t tgid);

/* wait_shares_forget - drops a process that is gone */
void wait_shares_forget(struct wait_shares *shares, uint32_t tgid);

/*
 * wait_shares_look - calls @above for each thread that has exceeded @percent since the last call
 *
 * Only threads of this purpose are judged. Threads of any purpose whose last call ended long ago are dropped. All calls
 * that ended before @now_ns must have been added.
 */
void wait_shares_look(struct wait_shares *shares, uint32_t purpose, double percent, uint64_t now_ns,
		      void (*above)(void *context, const struct wait_key *key, double percent), void *context);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_WAIT_SHARES_H */
