/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_shares.h - how much of its last seconds each thread has spent in some calls.
 *
 * By whole seconds of CLOCK_MONOTONIC, of which the last WAIT_SHARES_S are added up. Calls within one another count once.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_WAIT_SHARES_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_WAIT_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#define WAIT_SHARES_S 10
#define WAIT_SHARES_MAX 4096 /* threads; those that come after are not looked at */

struct wait_shares;

/* wait_shares_new - no thread yet; NULL without memory; wait_shares_free(NULL) is fine */
struct wait_shares *wait_shares_new(void);
void wait_shares_free(struct wait_shares *shares);

/* Whose time it is, for which purpose. */
struct wait_key {
	uint32_t purpose; /* the caller's */
	uint32_t tgid, tid; /* tid 0: all threads of the process together */
};

/* wait_shares_add - a call that has ended, in the order in which a thread's calls end */
void wait_shares_add(struct wait_shares *shares, const struct wait_key *key, uint64_t start_ns, uint64_t end_ns);

/* wait_shares_has_thread - was something added for this purpose of a thread of the process, whose number is not 0? */
bool wait_shares_has_thread(const struct wait_shares *shares, uint32_t purpose, uint32_t tgid);

/* wait_shares_forget - the process is gone */
void wait_shares_forget(struct wait_shares *shares, uint32_t tgid);

/*
 * wait_shares_look - call @above for each thread that has come above @percent since it was looked at last
 *
 * Threads of other purposes are not judged. Of whichever purpose, those whose last call is long over are forgotten. All
 * that ended before @now_ns is known by now.
 */
void wait_shares_look(struct wait_shares *shares, uint32_t purpose, double percent, uint64_t now_ns,
		      void (*above)(void *context, const struct wait_key *key, double percent), void *context);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_WAIT_SHARES_H */
