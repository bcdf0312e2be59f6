/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.h - finds the BPF program that the kernel's verifier refused, and the reason */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_REFUSAL_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_REFUSAL_H

#include <stdbool.h>

struct refusal {
	char program[64];
	char reason[256]; /* the verifier's last line; empty: it wrote none */
};

/*
 * refusal_listen - from now on, keeps libbpf's messages about programs that could not be loaded
 *
 * libbpf reports them only through its print function, of which a process has one; they are
 * kept for the thread that called libbpf. Other messages are dropped, or with @aloud written to stderr.
 */
void refusal_listen(bool aloud);

/* refusal_forget - drops this thread's earlier messages */
void refusal_forget(void);

/* refusal_last - this thread's last refusal since refusal_forget(). Returns false if no program was refused. */
bool refusal_last(struct refusal *refusal);

/*
 * refusal_read - extracts the facts about a refused program from one message of libbpf
 *
 * There are two messages for a program: the first names it, the second has the verifier's log, too.
 * Only these change @refusal. Returns false for any other message.
 */
bool refusal_read(const char *message, struct refusal *refusal);

#endif
