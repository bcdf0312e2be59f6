/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.h - which BPF program the kernel's verifier refused, and its reason */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_REFUSAL_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_REFUSAL_H

#include <stdbool.h>

struct refusal {
	char program[64];
	char reason[256]; /* the verifier's last line; empty: it wrote none */
};

/*
 * refusal_listen - from now on, keep what libbpf says of programs that could not be loaded
 *
 * libbpf says it through its print function only, of which a process has one; what it prints is
 * kept for the thread that asked libbpf. All else is passed over, or with @aloud written to stderr.
 */
void refusal_listen(bool aloud);

/* refusal_forget - what this thread's next refusal_last() is to give is yet to come */
void refusal_forget(void);

/* refusal_last - of this thread since refusal_forget(). False: no program was refused. */
bool refusal_last(struct refusal *refusal);

/*
 * refusal_read - take from one message of libbpf's what it says of a refused program
 *
 * Two messages tell of one: the first names the program, the second has the verifier's log, too.
 * @refusal is only changed by those. Returns false of any other.
 */
bool refusal_read(const char *message, struct refusal *refusal);

#endif
