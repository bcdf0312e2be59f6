/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticker.h - the progress line of progress.h for work that cannot report its own progress: a separate thread writes it.
 *
 * "analysing: 7 of 19, for 12 s", "writing run.pftrace: 340 MiB, 45 MiB/s". On a terminal only; the thread allocates
 * no memory and blocks all signals.
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

/* ticker_say - sets the text for the work that begins now; @ticker may be NULL */
void ticker_say(struct ticker *ticker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ticker_watch - the same with the size of the file @path, whose text must stay valid until the next call */
void ticker_watch(struct ticker *ticker, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* PROFBPF_LIB_BASE_TICKER_H */
