/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/ticker.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/base/size.h"

#define SECOND_NS 1000000000ull
#define TICK_NS (SECOND_NS / 4)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void show(struct ticker *ticker)
{
	char text[TICKER_TEXT + 96], size[32], rate[32];
	double seconds = (double)(now_ns() - ticker->since_ns) / 1e9;
	struct stat st;

	if (!ticker->text[0] || !progress_wanted(&ticker->progress))
		return;
	/* Only the size of a regular file is shown: that of a folder does not include its files. */
	if (ticker->path && !stat(ticker->path, &st) && S_ISREG(st.st_mode))
		snprintf(text, sizeof(text), "%s: %s, %s/s", ticker->text,
			 size_format((uint64_t)st.st_size, size, sizeof(size)),
			 size_format((uint64_t)((double)st.st_size / (seconds > 0 ? seconds : 1)), rate,
				     sizeof(rate)));
	else
		snprintf(text, sizeof(text), "%s, for %.0f s", ticker->text, seconds);
	progress_show(&ticker->progress, text);
}

static void *run(void *context)
{
	struct ticker *ticker = context;

	pthread_mutex_lock(&ticker->lock);
	while (!ticker->ends) {
		uint64_t next_ns = now_ns() + TICK_NS;
		struct timespec next = { .tv_sec = (time_t)(next_ns / SECOND_NS),
					 .tv_nsec = (long)(next_ns % SECOND_NS) };

		show(ticker);
		pthread_cond_timedwait(&ticker->changed, &ticker->lock, &next);
	}
	pthread_mutex_unlock(&ticker->lock);
	return NULL;
}

void ticker_begin(struct ticker *ticker, FILE *to)
{
	pthread_condattr_t by_monotonic;
	sigset_t all, before;

	*ticker = (struct ticker){ .since_ns = now_ns() };
	progress_begin(&ticker->progress, to);
	if (!ticker->progress.to)
		return;
	pthread_mutex_init(&ticker->lock, NULL);
	pthread_condattr_init(&by_monotonic);
	pthread_condattr_setclock(&by_monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&ticker->changed, &by_monotonic);
	pthread_condattr_destroy(&by_monotonic);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ticker->runs = pthread_create(&ticker->thread, NULL, run, ticker) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void say(struct ticker *ticker, const char *path, const char *format, va_list values)
{
	if (!ticker || !ticker->runs)
		return;
	pthread_mutex_lock(&ticker->lock);
	vsnprintf(ticker->text, sizeof(ticker->text), format, values);
	ticker->path = path;
	ticker->since_ns = now_ns();
	pthread_mutex_unlock(&ticker->lock);
}

void ticker_say(struct ticker *ticker, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	say(ticker, NULL, format, values);
	va_end(values);
}

void ticker_watch(struct ticker *ticker, const char *path, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	say(ticker, path, format, values);
	va_end(values);
}

void ticker_end(struct ticker *ticker)
{
	if (!ticker->runs)
		return;
	pthread_mutex_lock(&ticker->lock);
	ticker->ends = true;
	pthread_cond_signal(&ticker->changed);
	pthread_mutex_unlock(&ticker->lock);
	pthread_join(ticker->thread, NULL);
	pthread_cond_destroy(&ticker->changed);
	pthread_mutex_destroy(&ticker->lock);
	progress_wipe(&ticker->progress);
	ticker->runs = false;
}
