/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticker.h - the line of progress.h for work that cannot stop to tell how far it has come: a thread of its own writes it.
 *
 * "analysing: 7 of 19, for 12 s", "writing run.pftrace: 340 MiB, 45 MiB/s". On a terminal only; the thread allocates
 * nothing, and all signals are the others'.
 */
#ifndef PROFBPF_LIB_BASE_TICKER_H
#define PROFBPF_LIB_BASE_TICKER_H

#include <pthread.h>
#include <stdbool.h>

#include "lib/base/progress.h"

#define TICKER_TEXT 160

struct ticker {
	struct progress progress;
	bool runs;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. */
	bool ends;
	uint64_t since_ns; /* when this was begun */
	char text[TICKER_TEXT];
	const char *path; /* the file that grows; NULL = none */
};

/* ticker_begin - @to is a stream, usually stderr; ticker_end() takes the line away, and may follow without */
void ticker_begin(struct ticker *ticker, FILE *to);
void ticker_end(struct ticker *ticker);

/* ticker_say - what is done from now on; NULL for @ticker is fine */
void ticker_say(struct ticker *ticker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ticker_watch - the same, and how large the file @path is; the text must stay until something else is said */
void ticker_watch(struct ticker *ticker, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* PROFBPF_LIB_BASE_TICKER_H */
